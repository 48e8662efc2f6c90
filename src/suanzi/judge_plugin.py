"""The public path of :mod:`suanzi.validate.judge.plugin`: the same module by this name."""

import sys

from suanzi.validate.judge import plugin as module
from suanzi.validate.judge.plugin import *  # noqa: F403

sys.modules[__name__] = module
