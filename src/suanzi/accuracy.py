"""The public path of :mod:`suanzi.validate.accuracy`: the same module by this name."""

import sys

from suanzi.validate import accuracy as module
from suanzi.validate.accuracy import *  # noqa: F403

sys.modules[__name__] = module
