"""Reviewer adapters: how each reviewer is asked, recognised and understood. They do no I/O of their own."""
