"""The wire below the client: one exchange, what its answer means, and when nothing may be sent."""
