"""What the file declares of the sizes of the model's outputs: the exporter's words are kept.

What is known of the values that are returned may be better, and passes put other values in their
place; the file that is written says of each output what the file that was read said of it. It lies
in the metadata of the main graph, so that clones have it, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import onnx_ir as ir

_DECLARED = "passlens.declared_outputs"

_Declared = tuple[ir.Shape | None, ...]


def keep_declared(model: ir.Model) -> None:
    """Remember what is declared of the outputs; nothing must be inferred or rewritten yet."""
    shapes = (value.shape for value in model.graph.outputs)
    declared: _Declared = tuple(None if shape is None else shape.copy() for shape in shapes)
    model.graph.meta[_DECLARED] = declared


def keep_numbers_alone(model: ir.Model) -> None:
    """Forget the names that are declared: sizes that they stood for have become numbers."""
    declared = (
        None if shape is None else ir.Shape(dim if isinstance(dim, int) else None for dim in shape)
        for shape in _declared(model.graph)
    )
    model.graph.meta[_DECLARED] = tuple(declared)


def output_shapes(graph: ir.Graph) -> Iterator[ir.Shape | None]:
    """For each output what is declared, and of sizes that are not, what is known."""
    declared = _declared(graph) or (None,) * len(graph.outputs)
    for value, claim in zip(graph.outputs, declared, strict=True):
        yield value.shape if claim is None else _completed(claim, value.shape)


def _declared(graph: ir.Graph) -> _Declared:
    return cast("_Declared", graph.meta.get(_DECLARED, ()))


def _completed(claim: ir.Shape, known: ir.Shape | None) -> ir.Shape:
    if known is None or len(known) != len(claim):
        return claim
    whole = claim.copy()
    for axis, dim in enumerate(claim):
        if not isinstance(dim, int) and dim.value is None:
            whole[axis] = known[axis]
    return whole
