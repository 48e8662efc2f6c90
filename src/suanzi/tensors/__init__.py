"""Tensors: the type, how they are made and exchanged, and how they print."""
