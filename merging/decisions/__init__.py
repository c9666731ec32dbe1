"""Pure decisions of merging: facts in, enum or dataclass out; no database, no clock, no network."""
