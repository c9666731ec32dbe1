"""What each edge writes beside the state."""
