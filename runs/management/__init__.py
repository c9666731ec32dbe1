"""Management commands of the kernel."""
