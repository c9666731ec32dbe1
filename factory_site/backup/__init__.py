"""Backup and restore: everything durable in one file, taken while the system serves, restored on either database."""
