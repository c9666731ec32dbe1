"""One attempt: from the claimed run to the outcome that the server has."""
