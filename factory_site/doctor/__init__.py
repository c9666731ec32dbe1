"""What is wrong with the whole system, and the command that mends it."""
