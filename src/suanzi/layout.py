"""The public path of :mod:`suanzi.base.layout`: the same module by this name."""

import sys

from suanzi.base import layout as module
from suanzi.base.layout import *  # noqa: F403

sys.modules[__name__] = module
