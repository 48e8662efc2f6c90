"""The public path of :mod:`suanzi.base.status`: the same module by this name."""

import sys

from suanzi.base import status as module
from suanzi.base.status import *  # noqa: F403

sys.modules[__name__] = module
