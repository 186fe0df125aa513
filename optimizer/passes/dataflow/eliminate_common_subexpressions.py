"""Common subexpressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import onnx_ir as ir

from optimizer.constants import fingerprint, is_constant_node, same_content
from optimizer.model.graph import is_used, use_count, value_id
from optimizer.operators.catalogue import COMMUTATIVE
from optimizer.passes.wording import described
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement

DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml"})
"""Operator sets whose operators keep no state."""

SMALL_FAN = 32
"""Consumers of a value up to which they are simply compared with each other."""

# Swapped operands change nothing for integers; for floats the sign of zero may differ.
_COMMUTATIVE_INTEGERS = frozenset({"Max", "Min"})

_Key = tuple[str, str, tuple[tuple[object, ...], ...]]
_Table = dict[_Key, dict[ir.Node, None]]


@register
class EliminateCommonSubexpressions(Pass):
    """Merge nodes that compute the same.

    What it does:
        Of two nodes with the same operator, attributes and inputs, the earlier one stays and
        serves the consumers of both. Constants count as the same input when they hold the same
        bits. Operands of commutative operators may be swapped. A node outside a body may serve
        inside it.
    Before:
        x → Relu → Exp, x → Relu → Neg
    After:
        x → Relu → Exp, Neg
    When it is safe:
        The operator draws no random numbers, comes from ONNX's own operator sets and carries no
        body. Two graph outputs keep a node each.
    Numerics:
        Bit-identical.
    Source:
        Common subexpression elimination by value numbering; Aho et al., Compilers, 8.5.
    """

    id = "eliminate-common-subexpressions"
    exactness = "exact"
    order = 20

    @rule(ANY, name="CommonSubexpression")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Look for an earlier twin among the nodes that read the same value."""
        if not node.inputs or is_constant_node(node):
            return None
        outputs_clash: ir.Node | None = None
        for twin in _lookalikes(node, context):
            if not _same(node, twin, context):
                continue
            if node.domain not in DOMAINS:
                reason = f"Operators of the domain {node.domain} may keep state"
                return Declined(reason, (twin,))
            if not _both_outputs(node, twin):
                return _merged(node, twin)
            outputs_clash = twin
        if outputs_clash is None:
            return None
        return Declined("Both results are graph outputs, which need a node each", (outputs_clash,))


def _merged(node: ir.Node, twin: ir.Node) -> Replacement:
    pairs = zip(node.outputs, twin.outputs, strict=True)
    values = {old: new for old, new in pairs if is_used(old)}
    matched = [twin, node] if twin.graph is node.graph else [node]
    return Replacement(matched, values, f"{described(twin)} already computes this.")


def _both_outputs(node: ir.Node, twin: ir.Node) -> bool:
    pairs = zip(node.outputs, twin.outputs, strict=True)
    return any(a.is_graph_output() and b.is_graph_output() for a, b in pairs)


def _lookalikes(node: ir.Node, context: Context) -> Iterator[ir.Node]:
    """Nodes that may be twins and stand earlier."""
    pivot = _pivot(node, context)
    if pivot is None:  # constants only: their twins may read equal constants elsewhere
        others = _registered(node, cast(_Table, context.memory.setdefault(None, {})), context)
    elif use_count(pivot) <= SMALL_FAN:
        others = [use.node for use in pivot.uses()]
    else:
        others = _registered(node, _table(pivot, context), context)
    for other in others:
        if other is node or other.op_type != node.op_type or other.graph is None:
            continue
        if context.precedes(other, node):
            yield other


def _pivot(node: ir.Node, context: Context) -> ir.Value | None:
    """The input with the fewest consumers: every twin is one of them."""
    best: ir.Value | None = None
    for value in node.inputs:
        if value is None or context.is_constant(value):
            continue
        if best is None or use_count(value) < use_count(best):
            best = value
            if use_count(value) < 2:
                break  # nobody else reads it: there is no twin
    return best


def _table(pivot: ir.Value, context: Context) -> _Table:
    """The consumers of a value by what they compute; made once a round, kept up by visits."""
    table = context.memory.get(pivot)
    if table is None:
        made: _Table = {}
        for use in pivot.uses():
            made.setdefault(_key(use.node, context), {})[use.node] = None
        table = context.memory[pivot] = made
    return cast(_Table, table)


def _registered(node: ir.Node, table: _Table, context: Context) -> list[ir.Node]:
    """The nodes with the same key, this one from now on among them."""
    alike = table.setdefault(_key(node, context), {})
    alike[node] = None
    return list(alike)


def _key(node: ir.Node, context: Context) -> _Key:
    """Operator and inputs; equal for twins, and rarely equal otherwise."""
    operands = [_operand(value, context) for value in node.inputs]
    if _commutes(node):
        operands.sort(key=repr)
    return node.domain, node.op_type, tuple(operands)


def _operand(value: ir.Value | None, context: Context) -> tuple[object, ...]:
    tensor = context.tensor(value)
    if tensor is not None:
        return fingerprint(tensor)
    return ("",) if value is None else (value_id(value),)


def _commutes(node: ir.Node) -> bool:
    if node.domain:
        return False
    if node.op_type in COMMUTATIVE:
        return True
    dtype = node.outputs[0].dtype
    return node.op_type in _COMMUTATIVE_INTEGERS and dtype is not None and dtype.is_integer()


def _same(node: ir.Node, twin: ir.Node, context: Context) -> bool:
    if (node.domain, node.overload) != (twin.domain, twin.overload):
        return False
    if len(node.inputs) != len(twin.inputs) or len(node.outputs) != len(twin.outputs):
        return False
    if any(bool(a.name) != bool(b.name) for a, b in zip(node.outputs, twin.outputs, strict=True)):
        return False
    if not _same_attributes(node, twin, context):
        return False
    same = _same_operands(node.inputs, twin.inputs, context) or (
        _commutes(node) and _same_operands(node.inputs, twin.inputs[::-1], context)
    )
    return same and context.deterministic(node)


def _same_operands(
    mine: Sequence[ir.Value | None], other: Sequence[ir.Value | None], context: Context
) -> bool:
    return all(_same_value(a, b, context) for a, b in zip(mine, other, strict=True))


def _same_value(a: ir.Value | None, b: ir.Value | None, context: Context) -> bool:
    if a is b:
        return True
    one = context.tensor(a)
    two = context.tensor(b) if one is not None else None
    return one is not None and two is not None and same_content(one, two)


def _same_attributes(node: ir.Node, twin: ir.Node, context: Context) -> bool:
    names = {*node.attributes.data, *twin.attributes.data}  # of the dicts themselves: this is hot
    return all(_same_attribute(node, twin, name, context) for name in names)


def _same_attribute(node: ir.Node, twin: ir.Node, name: str, context: Context) -> bool:
    a, b = node.attributes.data.get(name), twin.attributes.data.get(name)
    if a is None or b is None:  # one of them relies on the default
        return context.attribute(node, name) == context.attribute(twin, name)
    if a.type != b.type or a.is_ref() or b.is_ref():
        return False
    match a.type:
        case ir.AttributeType.TENSOR:
            return same_content(a.value, b.value)
        case ir.AttributeType.FLOAT | ir.AttributeType.INT | ir.AttributeType.STRING:
            return a.value == b.value
        case ir.AttributeType.FLOATS | ir.AttributeType.INTS | ir.AttributeType.STRINGS:
            return [*a.value] == [*b.value]
        case _:  # bodies, sparse tensors, types
            return False
