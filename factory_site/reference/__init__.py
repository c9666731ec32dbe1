"""Tables of docs/reference.md, made from the code itself: commands, routes, periodic passes, policy."""
