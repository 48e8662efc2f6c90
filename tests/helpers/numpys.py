"""What NumPy has since its second version."""

import numpy as np
import pytest

HAS_NUMPY_2 = int(np.__version__.partition(".")[0]) >= 2
needs_numpy_2 = pytest.mark.skipif(
    not HAS_NUMPY_2,
    reason="needs NumPy 2: its rules of promotion (NEP 50), and functions of the array API",
)
MOST_AXES = 64 if HAS_NUMPY_2 else 32
