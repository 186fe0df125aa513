"""What a Loop or a Scan computes anew in every round, and always to the same."""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from optimizer.model.graph import bodies, is_used
from optimizer.operators.catalogue import UNARY
from optimizer.passes.structure.copying import known_number
from optimizer.passes.structure.unroll_scan import CountedScan, scan_of
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
    given,
)
from optimizer.rules.wording import described

_NEVER_FAIL = UNARY | {"Shape", "Size", "Transpose"}
"""They may run where they would not have."""


@register
class HoistLoopInvariants(Pass):
    """Hoist out of a Loop or Scan what is the same in every round.

    What it does:
        A node of the body that reads nothing of the round, directly or not, is computed once,
        before the Loop or the Scan.
    Before:
        x, w → Loop(body: Transpose(w) → MatMul(state))
    After:
        x, w → Transpose(w) → Loop(body: MatMul(state))
    When it is safe:
        The node is deterministic, has no body of its own, and gives no result of the body itself.
        There is at least one round; where that is not known, only what cannot fail is hoisted:
        functions of single elements, Shape, Size and Transpose.
    Numerics:
        Bit-identical: the same operators run, less often.
    Source:
        Allen and Cocke, A catalogue of optimizing transformations, 1971: code motion.
    """

    id = "hoist-loop-invariants"
    exactness = "exact"
    order = 25

    @rule("Loop", name="InvariantOfLoop", reach=3)
    def loop(self, node: ir.Node, context: Context) -> Outcome:
        """A Loop whose body has invariants."""
        limit, condition = node.inputs[0], given(node, 1)
        rounds = 1 if limit is None else known_number(limit, context) or 0
        starts = condition is None or known_number(condition, context) == 1
        return _hoisted(node, context, certain=rounds > 0 and starts)

    @rule("Scan", name="InvariantOfScan")
    def scan(self, node: ir.Node, context: Context) -> Outcome:
        """A Scan whose body has invariants."""
        found = scan_of(node, context)
        return _hoisted(node, context, certain=isinstance(found, CountedScan) and found.rounds > 0)


def _hoisted(node: ir.Node, context: Context, *, certain: bool) -> Outcome:
    attribute = node.attributes.get("body")
    if attribute is None or attribute.is_ref():
        return None
    body = attribute.as_graph()
    made: dict[ir.Node, NewNode] = {}
    known: dict[ir.Value, Operand] = {}
    risky: ir.Node | None = None
    for inner in body:
        operands = _operands(inner, body, known, context)
        if operands is None or not _may_leave(inner, context):
            continue
        if not certain and not _never_fails(inner):
            risky = risky or inner
            continue
        made[inner] = new = NewNode(
            inner.op_type, operands, dict(inner.attributes), inner.domain, len(inner.outputs),
            inner.name, twin=inner,
        )  # fmt: skip
        known.update({value: new.output(index) for index, value in enumerate(inner.outputs)})
    if not made:
        return None if risky is None else _declined(node, risky)
    return _moved(node, made, known)


def _operands(
    inner: ir.Node, body: ir.Graph, known: dict[ir.Value, Operand], context: Context
) -> list[Operand | None] | None:
    """What a node reads, as the graph around has it; None where it reads something of the round."""
    operands: list[Operand | None] = []
    for value in inner.inputs:
        if value is None or _is_outside(value, body):
            operands.append(value)
        elif value in known:
            operands.append(known[value])
        elif (tensor := context.tensor(value)) is not None:
            operands.append(known.setdefault(value, NewInitializer(tensor, value.name or "weight")))
        else:
            return None
    return operands


def _is_outside(value: ir.Value, body: ir.Graph) -> bool:
    producer = value.producer()
    return (value.graph if producer is None else producer.graph) is not body


def _may_leave(inner: ir.Node, context: Context) -> bool:
    """Whether a node is the same wherever it stands; constants are nobody's work."""
    if inner.op_type == "Constant" or next(iter(bodies(inner)), None) is not None:
        return False
    return context.deterministic(inner) and not _gives_a_result(inner.outputs)


def _gives_a_result(values: Iterable[ir.Value]) -> bool:
    return any(value.is_graph_output() for value in values) or not any(map(is_used, values))


def _never_fails(inner: ir.Node) -> bool:
    return not inner.domain and inner.op_type in _NEVER_FAIL


def _declined(node: ir.Node, risky: ir.Node) -> Declined:
    reason = (
        f"The {node.op_type} may go round not at all, and what would be computed before it might "
        f"fail: {described(risky)}"
    )
    return Declined(reason, (risky,))


def _moved(
    node: ir.Node, made: dict[ir.Node, NewNode], known: dict[ir.Value, Operand]
) -> Replacement:
    """The nodes before the Loop; those in the body go in a part of the same step."""
    values = {value: known[value] for inner in made for value in inner.outputs if is_used(value)}
    names = ", ".join(dict.fromkeys(inner.op_type for inner in made))
    it = "It reads" if len(made) == 1 else "They read"
    reason = f"{it} nothing that changes from round to round of the {node.op_type}: {names}."
    last = next(reversed(made))
    gone = Replacement([*made], {}, reason)
    places = tuple(Place((inner,), (new,)) for inner, new in made.items())
    return Replacement(
        (), values, reason, [*made.values()], parts={last: gone}, inferred=Inference(places, 1.0)
    )
