"""What leaves for the forge: each effect once, fenced before it is sent and believed as read back."""
