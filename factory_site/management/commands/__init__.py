"""Commands over the whole site."""
