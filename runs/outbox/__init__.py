"""What is done outside after a commit: written with the state it follows from, delivered at least once, in order."""
