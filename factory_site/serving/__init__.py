"""`serve` and `up`: a parent that starts and restarts its children, and the children."""
