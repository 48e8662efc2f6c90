"""The public path of :mod:`suanzi.validate.criteria`: the same module by this name."""

import sys

from suanzi.validate import criteria as module
from suanzi.validate.criteria import *  # noqa: F403

sys.modules[__name__] = module
