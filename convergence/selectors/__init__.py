"""Every read of convergence for pages and the API."""
