"""7.2.10, trigonometric."""
