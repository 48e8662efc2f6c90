"""Sparse tensors: only nonzero elements are stored, with their indices.

elements.py      the stored values as bits, and runs of them combined pairwise
structure.py     the indices: order, duplicates, repetition
merging.py       the indices of two tensors, all or the common ones
tensor.py        SparseTensor
making.py        from dense tensors, parts, and the arrays of others
exchange.py      to SciPy and pydata/sparse
printing.py      as text and in a notebook
forms/           the operators on them
"""
