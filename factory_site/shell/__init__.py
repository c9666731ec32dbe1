"""What people read and type in a shell: verbs of the commands, and the lines that they print."""
