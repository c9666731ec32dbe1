"""Every write of the app: credentials, and the registry of workers."""
