"""Every write of convergence, one subject a file."""
