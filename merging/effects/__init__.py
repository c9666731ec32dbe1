"""What the merge flow does outside: one merge call for a head, checked again, fenced, and read back."""
