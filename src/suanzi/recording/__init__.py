"""What a program called: one record for each call, and what records them."""
