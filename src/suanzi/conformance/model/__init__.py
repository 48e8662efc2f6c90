"""What the kit speaks of: exact numbers, tensors as data, cases, results."""
