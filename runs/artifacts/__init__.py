"""Artifacts: bytes under their hash, who may bind them, what refers to them, and their removal when nothing does."""
