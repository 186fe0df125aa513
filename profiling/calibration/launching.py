"""From the times of tiny nodes to launches: warm, by operator, and how much longer when cold.

    time = (launch of the operator + further inputs of a Concat + dimensions + far operands
            + far instructions)
           x (1 + cold launch x shared coldness + cold operator x the operator's coldness)

Least squares in turns: the first factor for a known second, the second for a known first. Errors
count in shares of what the operator usually takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.cost.coldness import coldness, operands_of
from optimizer.cost.node import node_costs
from optimizer.cost.predict import dimensions, further_inputs
from optimizer.cost.sizes import Sizes
from optimizer.model.graph import node_id

_TURNS = 60
_MOST = 3.0
"""So many times what its operator usually takes: what is above was disturbed."""

_LEAST_US = 0.2
"""What an operator usually takes is not counted as less, for errors are divided by it."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Launches:
    """As a device profile has them: microseconds, and shares by which they grow in cold caches.

    Attributes:
        warm_us: by operator.
        joined_us: each input of a Concat beyond the second.
        dimension_us: each dimension of the operands and results.
        far_operand_us: each operand that was last read long ago.
        far_instructions_us: where none of the nodes right before had the operator.
        cold_launch: where nothing is near that all launches need.
        cold_operator: where nothing is near that those of its operator need.
    """

    warm_us: Mapping[str, float]
    joined_us: float
    dimension_us: float
    far_operand_us: float
    far_instructions_us: float
    cold_launch: float
    cold_operator: float


def launching(graph: ir.Graph, launched_us: Mapping[str, float], near_bytes: int) -> Launches:
    """What the launches of a graph that ran say.

    Args:
        graph: with ids and shapes.
        launched_us: how long launches took, by node name.
        near_bytes: of the nearest level of memory.
    """
    found = coldness(graph, node_costs(graph, Sizes()), near_bytes)
    nodes = [node for node in graph if node.name in launched_us]
    cold = [found[node_id(node)] for node in nodes]
    more = [
        (
            further_inputs(node),
            dimensions(node),
            len(operands_of(node)) * one.operands,
            one.instructions,
        )
        for node, one in zip(nodes, cold, strict=True)
    ]
    return _fitted(
        np.array([launched_us[node.name or ""] for node in nodes]),
        np.array([node.op_type for node in nodes]),
        np.array(more, np.float64),
        np.array([(one.shared, one.operator) for one in cold]),
    )


def _fitted(times: Floats, names: NDArray[np.str_], more: Floats, cold: Floats) -> Launches:
    operators, which = np.unique(names, return_inverse=True)
    usual = np.array([np.median(times[which == index]) for index in range(len(operators))])
    weight = 1 / np.maximum(usual, _LEAST_US)[which]
    times = np.minimum(times, _MOST * usual[which]) * weight
    parts = np.hstack([np.eye(len(operators))[which], more]) * weight[:, None]
    found, shares = np.zeros(parts.shape[1]), np.zeros(cold.shape[1])
    for _ in range(_TURNS):
        found = _not_negative(parts * (1 + cold @ shares)[:, None], times)
        launch = parts @ found
        shares = _not_negative(cold * launch[:, None], times - launch)
    warm, more_us = found[: len(operators)].tolist(), found[len(operators) :].tolist()
    return Launches(dict(zip(operators.tolist(), warm, strict=True)), *more_us, *shares.tolist())


def _not_negative(columns: Floats, wanted: Floats) -> Floats:
    """Least squares; columns that would count negative are left out, one after the other."""
    used = list(range(columns.shape[1]))
    while used:
        found = np.linalg.lstsq(columns[:, used], wanted, rcond=None)[0]
        worst = int(np.argmin(found))
        if found[worst] >= 0:
            break
        del used[worst]
    else:
        found = np.zeros(0)
    result = np.zeros(columns.shape[1])
    result[used] = found
    return result
