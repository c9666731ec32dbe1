"""When may a request be sent: blocks, budgets, outages and the pace of writes, one account for each credential."""
