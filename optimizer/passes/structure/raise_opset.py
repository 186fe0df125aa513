"""A model in a newer operator set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.hardware.meaning import means_the_same
from optimizer.model.graph import walk_nodes
from optimizer.model.signatures import RUNTIME_EXTRAS, newest_opset, signature
from optimizer.numbers import counted
from optimizer.passes.draft import Draft, NotHere
from optimizer.passes.structure.conversions import ALWAYS, CONVERSIONS, Conversion, Site
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Declined, Inference, Outcome, Place, Replacement
from optimizer.rules.wording import described

_EXPERIMENTS = frozenset(
    {
        "Affine", "Crop", "DynamicSlice", "ImageScaler", "ParametricSoftplus", "Scale",
        "ScaledTanh",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Change:
    """A node that is written otherwise in the next operator set."""

    node: ir.Node
    attributes: Mapping[str, object] | None
    part: Replacement | None


@register
class RaiseOpset(Pass):
    """Raise a model to a newer opset.

    What it does:
        One operator set after the other, all that the next one writes otherwise is written so, in
        one step: attributes that became inputs (axes of Squeeze and the reductions, sizes of Split,
        bounds of Clip, Pad, Slice, TopK), Upsample as Resize, a Softmax over several axes as one
        over a flattened tensor, and whatever else the changelog of ONNX asks for; then the model
        imports that set. Passes that need a newer operator find it there.
    Before:
        opset 12: x → Unsqueeze<axes> → y
    After:
        opset 13: x → Unsqueeze(axes) → y
    When it is safe:
        Every operator of the model has a form in the newer set that means the same. It ends below
        the first set of which that is not so; what is in the way is named.
    Numerics:
        Bit-identical, but for AveragePool across opset 19: ONNX Runtime has another kernel for it
        from there on, which adds in another order.
    Source:
        ONNX operator changelog.

    Attributes:
        opset: where to end; from 13 on, quantized weights may have a scale a channel.
    """

    id = "raise-opset"
    exactness = "reassociates"
    presets = ()
    order = 10
    global_analysis = True

    opset: int = 13

    @rule(ANY, name="NewerOpset")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Any node of the main graph, on behalf of all."""
        graph, now = node.graph, context.opset()
        if not isinstance(graph, ir.Graph) or not 0 < now < min(self.opset, newest_opset()):
            return None
        if [*context.scopes(graph)][1:] or context.memory.get("stuck") == now:
            return None
        if context.functions:
            context.memory["stuck"] = now
            reason = "The functions of the model are of its own operator set"
            return Declined(reason, unlock="Switch on inline-outlined.")
        changes: list[_Change] = []
        for one in walk_nodes(graph):
            try:
                change = _change(one, now + 1, context)
            except NotHere as why:
                context.memory["stuck"] = now
                return _declined(one, now + 1, str(why))
            if change is not None:
                changes.append(change)
        context.memory["stuck"] = now  # unless it is carried out
        return _raised(node, changes, now + 1)


def _change(node: ir.Node, then: int, context: Context) -> _Change | None:
    """What a node needs in the next operator set; None for nothing.

    Raises:
        NotHere: it has no form there.
    """
    if node.domain:
        return None
    here, there = (signature("", node.op_type, version) for version in (then - 1, then))
    if there is None and node.op_type in RUNTIME_EXTRAS:
        if then == 10 and node.op_type in _EXPERIMENTS:
            raise NotHere("it was an experiment, which the runtime knows up to operator set 9")
        return None
    if here is not None and there is not None and here.since == there.since:
        return None
    key = (node.op_type, then)
    if key not in ALWAYS and means_the_same(node, now=then - 1, then=then):
        return None
    conversion = CONVERSIONS.get(key)
    if here is None and there is not None and node.op_type in RUNTIME_EXTRAS:
        return None  # the runtime has it before ONNX does
    if conversion is None:
        raise NotHere(_lost(node, then))
    return _converted(node, conversion, then, context)


def _lost(node: ir.Node, then: int) -> str:
    there = signature("", node.op_type, then)
    if there is None or there.deprecated:
        return f"operator set {then} has no {node.op_type}"
    return f"it means something else in operator set {then}"


def _converted(
    node: ir.Node, conversion: Conversion, then: int, context: Context
) -> _Change | None:
    draft = Draft(then, node.name or node.op_type)
    found = conversion(Site(node, draft, context))
    if isinstance(found, Mapping):
        return _Change(node, found, None) if found else None
    values = {old: new for old, new in zip(node.outputs, found, strict=False) if new is not None}
    return _Change(node, None, Replacement([node], values, "", draft.made))


def _declined(node: ir.Node, then: int, why: str) -> Declined:
    reason = f"The model stays below operator set {then}: {described(node)}: {why}"
    return Declined(reason, (node,))


def _raised(node: ir.Node, changes: list[_Change], then: int) -> Replacement:
    """The whole model in the next operator set."""
    parts = {one.node: one.part for one in reversed(changes) if one.part is not None}
    attributes = {
        change.node: change.attributes for change in changes if change.attributes is not None
    }
    kinds = Counter(change.node.op_type for change in changes)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    reason = f"All operators of the model mean the same in operator set {then}."
    if changes:
        written = (
            f"{counted(len(changes), 'node')} is"
            if len(changes) == 1
            else (f"{counted(len(changes), 'node')} are")
        )
        reason = f"In operator set {then} {written} written otherwise: {told}."
    places = tuple(Place((old,), tuple(part.nodes)) for old, part in parts.items())
    matched = () if parts else (node,)
    inferred = Inference(places, 1.0) if parts else None
    return Replacement(
        matched, {}, reason,
        attributes=attributes, opsets={"": then}, parts=parts, inferred=inferred,
    )  # fmt: skip
