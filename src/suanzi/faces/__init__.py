"""The operators in other forms: the standard's own, and the Python array API."""
