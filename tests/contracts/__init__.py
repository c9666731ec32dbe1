"""GitHub's published contract, and functions that hold requests, answers and documents against it."""
