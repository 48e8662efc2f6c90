"""The public path of :mod:`suanzi.faces.rules`: the same module by this name."""

import sys

from suanzi.faces import rules as module
from suanzi.faces.rules import *  # noqa: F403

sys.modules[__name__] = module
