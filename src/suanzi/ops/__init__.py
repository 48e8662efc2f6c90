"""The operators, by clause of the standard.

7.2.1 creation (sparse and quantised tensors, and random numbers, in files of their own),
7.2.2 query, 7.2.3 transformation (views, joining and selecting in files of their own),
7.2.4 arithmetic, 7.2.5 comparison, 7.2.6 logical, 7.2.7 bitwise, 7.2.8 power, 7.2.9 rounding,
7.2.10 trigonometric, 7.2.11 hyperbolic, 7.2.12 exponential, 7.2.13 reduction, 7.2.14 indices,
7.2.15 complex numbers, 7.2.16 signal, 7.2.17 products, decompositions, solving, least squares and
norm, 7.2.18 interpolation; some gradients have files of their own.
"""
