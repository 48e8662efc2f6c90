"""7.2.17, linear algebra."""
