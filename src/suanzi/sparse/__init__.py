"""Sparse tensors: only the elements that are not zero are stored, with their places.

elements.py      the stored values as bits, and runs of them combined pairwise
structure.py     the places: order, duplicates, repetition
merging.py       the places of two tensors, all or those in common
tensor.py        SparseTensor
making.py        from dense tensors, parts, and the arrays of others
exchange.py      to SciPy and pydata/sparse
printing.py      as text and in a notebook
forms/           the operators on them
"""
