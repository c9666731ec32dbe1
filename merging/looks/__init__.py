"""Looking at due rows of the merge flow: read the forge in batches, decide, and take the edge."""
