"""A model with attention in the first operator set that has it as one operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from optimizer.hardware.meaning import means_the_same
from optimizer.model.graph import walk_nodes
from optimizer.model.signatures import signature
from optimizer.passes.block.attention_parts import ATTENTION
from optimizer.passes.block.recognize_attention import OPSET
from optimizer.passes.wording import described
from optimizer.patterns import Found
from optimizer.patterns.search import find
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    Inference,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Place,
    Replacement,
)

OLDEST = 11
"""Before it, too many operators had another form."""

_READ_SINCE = {"Split": "split", "Squeeze": "axes", "Unsqueeze": "axes"}


@register
class RaiseOpsetForAttention(Pass):
    """Raise a model with attention to opset 23.

    What it does:
        A model of opset 11 to 22 in which attention is spelled out moves to opset 23, which has it
        as one operator. What has another form there is written anew: axes and sizes that were
        attributes are inputs.
    Before:
        opset 17: softmax(q · kᵀ · scale) · v
    After:
        opset 23: softmax(q · kᵀ · scale) · v
    When it is safe:
        The model is to run in a runtime of 2025 or later, such as ONNX Runtime 1.23. All its
        operators mean the same in opset 23, or have a form there that does.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator changelog, versions 11 to 23.
    """

    id = "raise-opset-for-attention"
    exactness = "exact"
    presets = ("cpu", "cuda")
    order = 83

    @rule(*ATTENTION.roots, name="AttentionBeforeOpset", reach=ATTENTION.reach)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The first attention of a model; what nearly is one, the pass that makes it one tells."""
        graph, now = node.graph, context.opset()
        if now >= OPSET or not isinstance(graph, ir.Graph):
            return None
        if not isinstance(find(ATTENTION, node, context), Found):
            return None
        if now < OLDEST:
            return Declined(f"Before opset {OLDEST} too many operators had another form: {now}")
        *_, outermost = context.scopes(graph)
        if outermost is not graph:
            return None
        written = _written(outermost, context)
        if isinstance(written, Declined):
            return written
        moved = f"and all operators of the model have a form there that means the same as in {now}."
        reason = f"Opset {OPSET} has Attention, {moved}"
        replaced = dict(written)
        values: dict[ir.Value, Operand] = {
            value: new.output(index)
            for old, new in written
            for index, value in enumerate(old.outputs)
        }
        if not written:
            return Replacement([node], values, reason, opsets={"": OPSET})
        return Replacement(
            [*replaced, node],
            values,
            reason,
            [*replaced.values()],
            opsets={"": OPSET},
            order=[replaced.get(each, each) for each in graph],
            inferred=Inference(tuple(Place((old,), (new,)) for old, new in written), 1.0),
        )


def _written(graph: ir.Graph, context: Context) -> list[tuple[ir.Node, NewNode]] | Declined:
    """Nodes that have another form in the newer operator set, and that form."""
    found: list[tuple[ir.Node, NewNode]] = []
    for node in walk_nodes(graph):
        if node.domain or _stays(node, context.opset()):
            continue
        made = _newer(node, context) if node.graph is graph else None
        if made is None:
            reason = f"An operator means something else in opset {OPSET}: {described(node)}"
            return Declined(reason, (node,))
        found.append((node, made))
    return found


def _stays(node: ir.Node, now: int) -> bool:
    known = signature("", node.op_type, OPSET)
    if _is_even(node) or known is None or not {*node.attributes} <= {*known.attributes}:
        return False
    return means_the_same(node, now=now, then=OPSET)


def _is_even(node: ir.Node) -> bool:
    """Whether a Split makes equal parts without saying how many; from opset 18 on it must."""
    told = {"split", "num_outputs"} & {*node.attributes}
    return node.op_type == "Split" and len(node.inputs) == 1 and not told


def _newer(node: ir.Node, context: Context) -> NewNode | None:
    """A node as the newer operator set has it."""
    attributes: dict[str, object] = {**node.attributes}
    if _is_even(node):
        attributes["num_outputs"] = len(node.outputs)
        return _twin(node, node.inputs, attributes)
    if node.op_type == "Softmax":
        rank, axis = context.rank(node.inputs[0]), context.attribute(node, "axis")
        if rank is None or axis not in (-1, rank - 1):
            return None
        return _twin(node, node.inputs, {"axis": -1})
    name = "axes" if node.op_type.startswith("Reduce") else _READ_SINCE.get(node.op_type, "")
    numbers = context.integers(node, name) if name in attributes else None
    if numbers is None or len(node.inputs) != 1:
        return None
    del attributes[name]
    return _twin(node, [node.inputs[0], NewInitializer.ints(numbers, name)], attributes)


def _twin(
    node: ir.Node, inputs: Sequence[Operand | None], attributes: Mapping[str, object]
) -> NewNode:
    """The same operator with other operands and attributes."""
    return NewNode(node.op_type, inputs, attributes, outputs=len(node.outputs), twin=node)
