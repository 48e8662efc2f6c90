"""Tensors that are elsewhere: on devices of PyTorch, and in blocks on Dask."""
