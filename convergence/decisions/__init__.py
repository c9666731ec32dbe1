"""Pure decisions of the convergence flow: facts in, an answer out; no database, no clock, no network."""
