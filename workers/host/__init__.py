"""The worker process itself; runs on a machine that has only Python, the package and a credential."""
