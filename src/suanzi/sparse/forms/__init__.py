"""The operators that sparse tensors have a form of."""
