"""Agent definitions: read from files, normalised, stored by content."""
