"""What other libraries compute: BLAS, LAPACK and Fourier transforms."""
