"""The public path of :mod:`suanzi.base.dtypes`: the same module by this name."""

import sys

from suanzi.base import dtypes as module
from suanzi.base.dtypes import *  # noqa: F403

sys.modules[__name__] = module
