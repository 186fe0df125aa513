"""Networks that Passlens and PyTorch run on the same weights: built here, random weights, seeded.

    network("resnet50").build() -> nn.Module     network("resnet50").inputs() -> tensors by name

Needs PyTorch; nothing but the GPU benchmark and its tests imports this.
"""

from __future__ import annotations

from benchmarks.networks.network import Network
from benchmarks.networks.table import network

__all__ = ["Network", "network"]
