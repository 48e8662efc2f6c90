"""The operators that sparse tensors have a form of.

dispatch.py      which operators have a sparse form
elementwise.py   operators of one and two operands
shapes.py        transpose, reshape and their like
reduction.py     sums, products, largest elements along axes
products.py      matrix products
"""
