"""The public path of :mod:`suanzi.faces.interface`: the same module by this name."""

import sys

from suanzi.faces import interface as module
from suanzi.faces.interface import *  # noqa: F403

sys.modules[__name__] = module
