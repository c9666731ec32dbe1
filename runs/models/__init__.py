"""The tables of the kernel, one subject a file."""

from runs.models.user import User

__all__ = ["User"]
