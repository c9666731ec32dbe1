"""Reading runs for lists, pages and the API: no writes, no query for each row."""
