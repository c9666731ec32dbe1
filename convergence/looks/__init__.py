"""Looking at due rows of the convergence flow: read the forge in batches, decide, and take the edge."""
