"""The public path of :mod:`suanzi.base.device`: the same module by this name."""

import sys

from suanzi.base import device as module
from suanzi.base.device import *  # noqa: F403

sys.modules[__name__] = module
