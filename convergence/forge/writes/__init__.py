"""Writes to GitHub: each carries what it expects, is sent once, and is believed only when it is read back."""
