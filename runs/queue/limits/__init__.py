"""What keeps runs from being claimed although a worker is free: pauses, caps, budgets. Decisions are pure."""
