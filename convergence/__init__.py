"""Pull requests, rounds, reviewers and the convergence flow."""
