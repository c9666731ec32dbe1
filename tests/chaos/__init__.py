"""A storm over the run engine: everything is killed, stopped, cut off, filled up, and the journal must still add up."""
