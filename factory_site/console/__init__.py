"""The console: pages over the rows of every app, and the frame around them."""
