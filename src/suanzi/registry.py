"""The public path of :mod:`suanzi.promote.registry`: the same module by this name."""

import sys

from suanzi.promote import registry as module
from suanzi.promote.registry import *  # noqa: F403

sys.modules[__name__] = module
