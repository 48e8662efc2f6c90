"""The public path of :mod:`suanzi.front.cli`: the same module by this name."""

import sys

from suanzi.front import cli as module
from suanzi.front.cli import *  # noqa: F403

sys.modules[__name__] = module

if __name__ == "__main__":
    sys.exit(module.main())
