"""The public path of :mod:`suanzi.faces.array_api`: the same module by this name."""

import sys

from suanzi.faces import array_api as module
from suanzi.faces.array_api import *  # noqa: F403

sys.modules[__name__] = module
