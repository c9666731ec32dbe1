"""The run queue: enqueue, claim, attempts, verification, receipts; one subject a module."""
