"""An attempt from its first heartbeat to its end: fence, phases, publication, failure, loss."""
