"""The supervisor of a machine: it keeps min ≤ pool ≤ max by one decision and at most one action a tick."""
