"""The server's side of ``/worker/v1`` and ``POST /artifacts``."""
