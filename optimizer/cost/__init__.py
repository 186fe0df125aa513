"""What a graph costs on paper: arithmetic, bytes moved, weights, memory for activations."""

from __future__ import annotations

from optimizer.cost.graph import GraphCost, graph_cost
from optimizer.cost.node import Cost, node_cost
from optimizer.cost.sizes import Sizes

__all__ = ["Cost", "GraphCost", "Sizes", "graph_cost", "node_cost"]
