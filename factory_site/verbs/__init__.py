"""The verbs of commands that have many: one small module a verb, registered by its command."""
