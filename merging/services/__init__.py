"""Every write of merging, one subject a file."""
