"""Where an agent works: made before it starts, observed after it is dead, and removed without losing work."""
