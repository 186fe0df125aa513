"""A model in a newer operator set at once: nodes that have another form there are written anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from optimizer.hardware.meaning import means_the_same
from optimizer.model.graph import walk_nodes
from optimizer.model.signatures import signature
from optimizer.passes.wording import described
from optimizer.rules import (
    Context,
    Declined,
    Inference,
    NewInitializer,
    NewNode,
    Operand,
    Place,
    Replacement,
)

OLDEST = 11
"""Before it, too many operators had another form."""

_READ_SINCE = {"Split": "split", "Squeeze": "axes", "Unsqueeze": "axes"}
"""Attributes that became inputs, as the axes of reductions did."""

_NO_KERNEL = frozenset(
    {
        "GlobalLpPool", "MaxRoiPool", "Multinomial", "RandomNormal", "RandomNormalLike",
        "RandomUniform", "RandomUniformLike", "RoiAlign",
    }
)  # fmt: skip
_NO_KERNEL_SINCE = 22
"""Operators for which ONNX Runtime 1.31 has no kernel in this set and later ones, only before."""


def raised(node: ir.Node, then: int, operator: str, context: Context) -> Replacement | Declined:
    """A model of opset 11 or later in a newer one, for the sake of an operator that it has.

    Args:
        node: of the main graph; the step is rooted there.
        then: the operator set to move to.
        operator: what there is in it, for the reason.
        context: of the model as it is.
    """
    graph, now = node.graph, context.opset()
    assert isinstance(graph, ir.Graph)
    if now < OLDEST:
        return Declined(f"Before opset {OLDEST} too many operators had another form: {now}")
    written = _written(graph, then, context)
    if isinstance(written, Declined):
        return written
    moved = f"and all operators of the model have a form there that means the same as in {now}."
    reason = f"Opset {then} has {operator}, {moved}"
    replaced = dict(written)
    values: dict[ir.Value, Operand] = {
        value: new.output(index) for old, new in written for index, value in enumerate(old.outputs)
    }
    if not written:
        return Replacement([node], values, reason, opsets={"": then})
    return Replacement(
        [*replaced, node],
        values,
        reason,
        [*replaced.values()],
        opsets={"": then},
        order=[replaced.get(each, each) for each in graph],
        inferred=Inference(tuple(Place((old,), (new,)) for old, new in written), 1.0),
    )


def _written(
    graph: ir.Graph, then: int, context: Context
) -> list[tuple[ir.Node, NewNode]] | Declined:
    """Nodes that have another form in the newer operator set, and that form."""
    found: list[tuple[ir.Node, NewNode]] = []
    moved: dict[ir.Value | None, Operand] = {}
    for node in walk_nodes(graph):
        if not node.domain and node.op_type in _NO_KERNEL and then >= _NO_KERNEL_SINCE:
            reason = f"ONNX Runtime has no kernel for an operator in opset {then}"
            return Declined(f"{reason}: {described(node)}", (node,))
        if node.domain or _stays(node, context.opset(), then):
            continue
        read = [moved.get(value, value) for value in node.inputs]
        made = _newer(node, read, then, context) if node.graph is graph else None
        if made is None:
            reason = f"An operator means something else in opset {then}: {described(node)}"
            return Declined(reason, (node,))
        found.append((node, made))
        moved.update((value, made.output(index)) for index, value in enumerate(node.outputs))
    return found


def _stays(node: ir.Node, now: int, then: int) -> bool:
    known = signature("", node.op_type, then)
    if _is_even(node, then) or known is None or not {*node.attributes} <= {*known.attributes}:
        return False
    return means_the_same(node, now=now, then=then)


def _is_even(node: ir.Node, then: int) -> bool:
    """Whether a Split makes equal parts without saying how many; from opset 18 on it must."""
    told = {"split", "num_outputs"} & {*node.attributes}
    return then >= 18 and node.op_type == "Split" and len(node.inputs) == 1 and not told


def _newer(
    node: ir.Node, read: Sequence[Operand | None], then: int, context: Context
) -> NewNode | None:
    """A node as the newer operator set has it; what it reads may be new, too."""
    attributes: dict[str, object] = {**node.attributes}
    if _is_even(node, then):
        attributes["num_outputs"] = len(node.outputs)
        return _twin(node, read, attributes)
    if node.op_type == "Softmax":
        rank, axis = context.rank(node.inputs[0]), context.attribute(node, "axis")
        if rank is None or axis not in (-1, rank - 1):
            return None
        return _twin(node, read, {"axis": -1})
    name = "axes" if node.op_type.startswith("Reduce") else _READ_SINCE.get(node.op_type, "")
    numbers = context.integers(node, name) if name in attributes else None
    if numbers is None or len(read) != 1:
        return None
    del attributes[name]
    return _twin(node, [read[0], NewInitializer.ints(numbers, name)], attributes)


def _twin(
    node: ir.Node, inputs: Sequence[Operand | None], attributes: Mapping[str, object]
) -> NewNode:
    """The same operator with other operands and attributes."""
    return NewNode(node.op_type, inputs, attributes, outputs=len(node.outputs), twin=node)
