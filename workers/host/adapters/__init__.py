"""What drives one kind of agent: argv, stdin, and the meaning of an output line."""
