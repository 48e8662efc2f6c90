"""The public path of :mod:`suanzi.front.agents.schemas`: the same module by this name."""

import sys

from suanzi.front.agents import schemas as module
from suanzi.front.agents.schemas import *  # noqa: F403

sys.modules[__name__] = module
