"""Verbs of `manage.py runs`."""
