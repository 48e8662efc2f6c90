"""The operators that models need, which part 1 of the standard does not have: ``sz.nn.softmax(x)``.

One file for each category. The records next to them have the facts, as those of the standard do;
`suanzi.truth` has the definitions. GB/T 46069.2 names such operators; its text is
not at hand, so the names are those that PyTorch and ONNX share, and provisional.

Floats narrower than float32 are computed in float32 and rounded once. A row gives the same bits in
any batch and with any number of threads.
"""

from suanzi.ops.nn import (
    activations,
    attention,
    convolutions,
    delta,
    experts,
    layers,
    losses,
    norms,
    optimizers,
    pooling,
    quantised,
    recurrent,
    sampling,
    softmaxes,
)
from suanzi.ops.nn.activations import *  # noqa: F403
from suanzi.ops.nn.attention import *  # noqa: F403
from suanzi.ops.nn.convolutions import *  # noqa: F403
from suanzi.ops.nn.delta import *  # noqa: F403
from suanzi.ops.nn.experts import *  # noqa: F403
from suanzi.ops.nn.layers import *  # noqa: F403
from suanzi.ops.nn.losses import *  # noqa: F403
from suanzi.ops.nn.norms import *  # noqa: F403
from suanzi.ops.nn.optimizers import *  # noqa: F403
from suanzi.ops.nn.pooling import *  # noqa: F403
from suanzi.ops.nn.quantised import *  # noqa: F403
from suanzi.ops.nn.recurrent import *  # noqa: F403
from suanzi.ops.nn.sampling import *  # noqa: F403
from suanzi.ops.nn.softmaxes import *  # noqa: F403

__all__: list[str] = []
__all__ += activations.__all__
__all__ += softmaxes.__all__
__all__ += norms.__all__
__all__ += layers.__all__
__all__ += convolutions.__all__
__all__ += pooling.__all__
__all__ += sampling.__all__
__all__ += attention.__all__
__all__ += losses.__all__
__all__ += quantised.__all__
__all__ += experts.__all__
__all__ += recurrent.__all__
__all__ += delta.__all__
__all__ += optimizers.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
