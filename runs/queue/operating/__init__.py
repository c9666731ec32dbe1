"""What an operator does to runs: start, extend, retry, release. Each is one transaction with its row in the journal."""
