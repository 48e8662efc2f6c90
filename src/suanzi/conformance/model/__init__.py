"""The terms of the kit: exact numbers, tensors as data, cases, results."""
