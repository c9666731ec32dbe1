"""The kernel: everything durable about runs, flows, events and people."""
