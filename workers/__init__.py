"""Worker registry and credentials, the worker protocol, and the pool."""
