"""Readers of the public sources that say which operators of PyTorch a target has."""
