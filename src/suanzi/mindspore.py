"""The public path of :mod:`suanzi.promote.mindspore`: the same module by this name."""

import sys

from suanzi.promote import mindspore as module
from suanzi.promote.mindspore import *  # noqa: F403

sys.modules[__name__] = module
