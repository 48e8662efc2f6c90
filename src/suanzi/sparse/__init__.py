"""Sparse tensors: only the elements that are not zero are stored, with their places.

elements.py      the stored values as bits, and runs of them combined pairwise
structure.py     the places: order, duplicates, repetition
merging.py       the places of two tensors, all or those in common
tensor.py        SparseTensor
making.py        from a dense tensor, and back
interchange.py   SciPy and pydata/sparse
dispatch.py      which operators have a sparse form
elementwise.py   operators of one and two operands
shapes.py        transpose, reshape and their like
reduction.py     sums, products, largest elements along axes
product.py       matrix products
"""
