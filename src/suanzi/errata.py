"""The public path of :mod:`suanzi.standard.errata`: the same module by this name."""

import sys

from suanzi.standard import errata as module
from suanzi.standard.errata import *  # noqa: F403

sys.modules[__name__] = module
