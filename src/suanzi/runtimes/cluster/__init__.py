"""Tensors of blocks on a Dask cluster: the device `cluster`.

>>> import suanzi as sz
>>> with blocks((2, 3)):
...     x = sz.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]], sz.int8, device="cluster")
>>> x
BlockTensor(shape=(3, 3), dtype=int8, blocks=2 x 1)
>>> print(x + sz.full(shape=(3,), value=0.5, device="cluster"))
BlockTensor([[1.5, 2.5, 3.5],
             [4.5, 5.5, 6.5],
             [7.5, 8.5, 9.5]], dtype=float32, blocks=2 x 1)
"""

try:
    import dask as _dask  # noqa: F401
except ModuleNotFoundError:
    raise ImportError(
        "suanzi.cluster needs Dask; `pip install 'suanzi[cluster]'` installs it."
    ) from None

# By it Dask knows how large blocks are.
import suanzi.runtimes.cluster.dask  # noqa: F401

# Each declares how some operators run on blocks, by being imported.
from suanzi.runtimes.cluster import (  # noqa: F401
    along,
    creating,
    elementwise,
    joining,
    moving,
    norms,
    picking,
    printing,
    products,
    quantized,
    reductions,
    sorting,
)
from suanzi.runtimes.cluster.exchange import from_dask
from suanzi.runtimes.cluster.files import from_hdf5, from_zarr, to_hdf5, to_zarr
from suanzi.runtimes.cluster.grid import blocks
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import WAYS, way

__all__ = [
    "WAYS",
    "BlockTensor",
    "blocks",
    "from_dask",
    "from_hdf5",
    "from_zarr",
    "to_hdf5",
    "to_zarr",
    "way",
]
