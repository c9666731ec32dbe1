"""The database backend of one host: Django's for SQLite, with connections that a waiting request can put aside."""
