"""Reads of the console's pages: each returns frozen rows, writes nothing, and has no query per row."""
