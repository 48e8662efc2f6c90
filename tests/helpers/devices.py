"""The device that tests/devices uses: SUANZI_DEVICE, or PyTorch's CPU."""

from __future__ import annotations

import os

DEVICE = os.environ.get("SUANZI_DEVICE", "torch:cpu")
"""SUANZI_DEVICE=cuda SUANZI_TRITON=1 pytest tests/devices runs on a GPU, kernels compiled."""
KIND = DEVICE.removeprefix("torch:").partition(":")[0]
HAS_KERNELS = KIND == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"
WHY_NOT = "TRITON_INTERPRET=1 runs kernels without a GPU, SUANZI_DEVICE=cuda on one"
