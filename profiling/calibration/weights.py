"""What weights cost that come from far: transposed first, as exporters leave them, or ready to use.

One matrix again and again would be found in a cache. Here there are so many that each is gone
before it is needed again, as those of a network are; and all differ, for equal ones come faster.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from profiling.calibration.micro import constant, finished

TRANSPOSED, PACKED, READY = "transposed", "packed", "ready"
_READY_SIZES = ((896, 1152),)
_PLAIN_SIZES = ((448, 640), (896, 1152), (1280, 2304))
_ALIASED_SIZES = ((256, 1024), (1024, 1152), (1024, 2304))
"""Rows of 4 KiB, before or after the transpose."""

_ROWS = 120
_BYTES_OF_A_SIZE = 24 << 20
_SEED = 5


def model() -> ir.Model:
    """Products with a weight on the right; a node's name ends with its number among equal ones."""
    drawn = np.random.default_rng(_SEED)
    lefts: dict[int, ir.Value] = {}
    weights: list[ir.Value] = []
    nodes: list[ir.Node] = []

    def node(purpose: str, operator: str, *operands: ir.Value) -> ir.Value:
        nodes.append(ir.node(operator, operands, name=f"{purpose} {weights[-1].name}"))
        return nodes[-1].outputs[0]

    def weight(shape: tuple[int, int]) -> ir.Value:
        name = f"{shape[0]}x{shape[1]} {len(weights)}"
        weights.append(constant(name, drawn.random(shape, np.float32)))
        return weights[-1]

    for inner, columns in (*_PLAIN_SIZES, *_ALIASED_SIZES):
        left = lefts.setdefault(inner, ir.val(f"x{inner}", ir.DataType.FLOAT, (_ROWS, inner)))
        for _ in range(_count(inner, columns)):
            node(PACKED, "MatMul", left, node(TRANSPOSED, "Transpose", weight((columns, inner))))
    for inner, columns in _READY_SIZES:
        for _ in range(_count(inner, columns)):
            node(READY, "MatMul", lefts[inner], weight((inner, columns)))
    outputs = [each.outputs[0] for each in nodes if each.op_type == "MatMul"]
    return finished(list(lefts.values()), weights, nodes, outputs)


def kind(name: str) -> str:
    """A node's name without its number: equal for equal work."""
    return name.rsplit(" ", 1)[0]


def one_of_each() -> Mapping[str, ir.Node]:
    """The first node of each kind."""
    found: dict[str, ir.Node] = {}
    for node in model().graph:
        found.setdefault(kind(node.name or ""), node)
    return found


def _count(inner: int, columns: int) -> int:
    return max(2, _BYTES_OF_A_SIZE // (4 * inner * columns))
