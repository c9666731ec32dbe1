"""Verbs of `manage.py workers`."""
