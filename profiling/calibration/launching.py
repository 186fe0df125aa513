"""From the times of tiny nodes to launches: warm, by operator, and how much longer when cold.

    time = clock + (launch of the operator + further inputs of a Concat) x (1 + cold launch x cold)

Least squares in turns: launches for a known share, the share for known launches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.cost.coldness import coldness
from optimizer.cost.node import node_cost
from optimizer.cost.predict import further_inputs
from optimizer.cost.sizes import Sizes
from optimizer.model.graph import node_id

_TURNS = 20
_MOST = 3.0
"""So many times what its operator usually takes: what is above was disturbed."""


@dataclass(frozen=True, slots=True)
class Launches:
    """Microseconds, as a device profile has them.

    Attributes:
        warm_us: by operator.
        joined_us: each input of a Concat beyond the second.
        cold: share by which they grow in cold caches.
    """

    warm_us: Mapping[str, float]
    joined_us: float
    cold: float


def launching(graph: ir.Graph, launched_us: Mapping[str, float], near_bytes: int) -> Launches:
    """What the launches of a graph that ran say.

    Args:
        graph: with ids and shapes.
        launched_us: how long launches took, by node name.
        near_bytes: of the nearest level of memory.
    """
    costs = {node_id(node): node_cost(node, Sizes()) for node in graph}
    moved = {identity: cost.bytes_moved for identity, cost in costs.items() if cost is not None}
    found = coldness(graph, moved, near_bytes)
    nodes = [node for node in graph if node.name in launched_us]
    return _fitted(
        np.array([launched_us[node.name or ""] for node in nodes]),
        np.array([node.op_type for node in nodes]),
        np.array([further_inputs(node) for node in nodes]),
        np.array([found[node_id(node)] for node in nodes]),
    )


def _fitted(
    times: NDArray[np.float64],
    names: NDArray[np.str_],
    more: NDArray[np.int64],
    cold: NDArray[np.float64],
) -> Launches:
    operators, which = np.unique(names, return_inverse=True)
    usual = np.array([np.median(times[which == index]) for index in range(len(operators))])
    times = np.minimum(times, _MOST * usual[which])
    share = joined = 0.0
    warm = usual
    for _ in range(_TURNS):
        longer = 1 + share * cold
        rest = times - joined * more * longer
        warm = np.bincount(which, rest * longer) / np.bincount(which, longer**2)
        joined = _slope(more * longer, times - warm[which] * longer)
        launch = warm[which] + joined * more
        share = _slope(launch * cold, times - launch)
    return Launches(dict(zip(operators.tolist(), warm.tolist(), strict=True)), joined, share)


def _slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    squares = float(x @ x)
    return max(0.0, float(x @ y) / squares) if squares else 0.0
