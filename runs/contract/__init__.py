"""What the control plane and the worker host share; imports nothing else of the product, and no Django."""
