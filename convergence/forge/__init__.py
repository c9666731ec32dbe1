"""The only place that talks to GitHub: reads in batches, writes that are read back, facts with their age."""
