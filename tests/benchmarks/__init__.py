"""The speed table: `python -m tests.benchmarks` measures every figure against a floor of the same run.

A figure is a module of `figures/` with a ``TITLE`` and a ``measure(size)`` that returns rows; a new module is a new
figure, and nothing else has to be told.
"""
