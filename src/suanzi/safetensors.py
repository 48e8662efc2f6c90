"""The public path of :mod:`suanzi.tensors.safetensors`: the same module by this name."""

import sys

from suanzi.tensors import safetensors as module
from suanzi.tensors.safetensors import *  # noqa: F403

sys.modules[__name__] = module
