"""If whose condition is known."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.model.graph import is_used
from optimizer.passes.draft import Draft, NotHere
from optimizer.passes.structure.copying import copied, known_number
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement


@register
class InlineKnownBranch(Pass):
    """Inline the branch of an If that is always taken.

    What it does:
        Where the condition of an If is the same at every run, the nodes of the branch that is
        taken stand in its place, and the other branch goes away.
    Before:
        x → Shape → Size → Equal(4) → If(then: x → Squeeze, else: x → Identity)
    After:
        x → Squeeze
    When it is safe:
        The condition is constant, or follows from sizes that do not vary. The branch holds no
        control flow of its own: where that is known, too, it is inlined first.
    Numerics:
        Bit-identical: the same operators run.
    Source:
        ONNX operator specification, If; branch folding, Aho et al., Compilers, 9.4.
    """

    id = "inline-known-branch"
    exactness = "exact"
    order = 10

    @rule("If", name="KnownCondition", reach=3)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """An If that always goes the same way."""
        condition = known_number(node.inputs[0], context)
        if condition is None:
            return Declined("The condition is computed from the inputs")
        taken = "then_branch" if condition else "else_branch"
        attribute = node.attributes.get(taken)
        if attribute is None or attribute.is_ref():
            return None
        draft = Draft(context.opset(), node.name or "branch")
        try:
            results = copied(attribute.as_graph(), {}, draft)
        except NotHere as why:
            return Declined(f"It always takes its {taken}, but {why}")
        values = {
            old: new
            for old, new in zip(node.outputs, results, strict=True)
            if new is not None and is_used(old)
        }
        what = "true" if condition else "false"
        reason = f"The condition is always {what}: {taken} stands in its place."
        return Replacement([node], values, reason, draft.made)
