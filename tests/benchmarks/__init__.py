"""Benchmarks: `python -m tests.benchmarks` prints figures as ratios to floors measured in the same run."""
