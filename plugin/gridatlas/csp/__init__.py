"""A strict Content-Security-Policy for a whole site."""
