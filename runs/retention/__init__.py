"""Retention: which rows are over for how long, and their removal in small transactions."""
