"""The merge flow, its dependencies and lanes."""
