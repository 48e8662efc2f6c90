"""The public path of :mod:`suanzi.ops.nn`: the same module by this name."""

import sys

from suanzi.ops import nn as module
from suanzi.ops.nn import *  # noqa: F403

sys.modules[__name__] = module
