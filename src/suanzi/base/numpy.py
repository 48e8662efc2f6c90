"""NumPy, imported when it is first used: `import suanzi` does not wait for it.

>>> np.arange(2)
array([0, 1])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
else:

    class _NumPy:
        """Looks names up in NumPy, and keeps them."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _NumPy()

__all__ = ["Array", "np"]

Array: TypeAlias = "np.ndarray[Any, Any]"
