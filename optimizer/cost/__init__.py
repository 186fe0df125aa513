"""What a node costs on paper: arithmetic, bytes moved, weights, and how long that takes."""

from __future__ import annotations

from optimizer.cost.node import Cost, node_cost
from optimizer.cost.sizes import Sizes

__all__ = ["Cost", "Sizes", "node_cost"]
