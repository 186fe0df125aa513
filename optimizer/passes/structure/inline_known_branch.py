"""If whose condition is known."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.constants import constant_of, is_constant_node, same_content
from optimizer.model.graph import is_used
from optimizer.model.repeats import node_key
from optimizer.passes.draft import Draft, NotHere
from optimizer.passes.structure.copying import copied, known_number
from optimizer.passes.structure.impossible_branch import problem_with
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement


@register
class InlineKnownBranch(Pass):
    """Inline the branch of an If that is always taken.

    What it does:
        Where the condition of an If is the same at every run, the nodes of the branch that is
        taken stand in its place, and the other branch goes away. So they do where both branches
        compute the same, and where an operator that runs in any case could not do so with what the
        other branch gives: exporters write Squeeze of an axis of free size so.
    Before:
        x → Shape → Size → Equal(4) → If(then: x → Squeeze, else: x → Identity)
    After:
        x → Squeeze
    When it is safe:
        The condition is constant, or follows from sizes that do not vary; or both branches have
        the same operators with the same attributes, which read the same; or the other branch gives
        a number of axes with which an LSTM, Gemm, Conv or Transpose further on fails. Control flow
        in the branch comes with it.
    Numerics:
        Bit-identical: the same operators run. Inputs on which the model fails may give something.
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
        what = "true" if condition else "false"
        reason = f"The condition is always {what}: {taken} stands in its place."
        try:
            return _inlined(node, attribute.as_graph(), reason, context)
        except NotHere as why:
            return Declined(f"It always takes its {taken}, but {why}")

    @rule("If", name="EqualBranches")
    def equal(self, node: ir.Node, context: Context) -> Outcome:
        """An If that computes the same either way."""
        graphs = _branches(node)
        if len(graphs) != 2 or not _compute_the_same(*graphs):
            return None
        try:
            return _inlined(node, graphs[0], "Both branches compute the same.", context)
        except NotHere as why:
            return Declined(f"Both branches compute the same, but {why}")

    @rule("If", name="ImpossibleBranch", reach=3)
    def possible(self, node: ir.Node, context: Context) -> Outcome:
        """An If that has to go one way, or something further on fails."""
        graphs = _branches(node)
        if len(graphs) != 2 or known_number(node.inputs[0], context) is not None:
            return None
        first, second = (problem_with(node, graph, context) for graph in graphs)
        if (first is None) == (second is None):
            return None
        left, problem = (1, first) if first else (0, second)
        reason = (
            f"It can only take its {('then', 'else')[left]}_branch: with the other one {problem}."
        )
        try:
            return _inlined(node, graphs[left], reason, context)
        except NotHere as why:
            return Declined(f"It can only take one branch, but {why}")


def _branches(node: ir.Node) -> list[ir.Graph]:
    """Both branches of an If; fewer where they are not known."""
    branches = [node.attributes.get(name) for name in ("then_branch", "else_branch")]
    return [one.as_graph() for one in branches if one is not None and not one.is_ref()]


def _inlined(node: ir.Node, branch: ir.Graph, reason: str, context: Context) -> Replacement:
    """A branch in place of its If.

    Raises:
        NotHere: it cannot be copied.
    """
    draft = Draft(context.opset(), node.name or "branch")
    results = copied(branch, {}, draft)
    values = {
        old: new
        for old, new in zip(node.outputs, results, strict=True)
        if new is not None and is_used(old)
    }
    return Replacement([node], values, reason, draft.made)


def _compute_the_same(one: ir.Graph, other: ir.Graph) -> bool:
    """Whether two bodies without inputs have the same operators in the same order, wired alike."""
    first, second = ([n for n in graph if not is_constant_node(n)] for graph in (one, other))
    if len(first) != len(second) or len(one.outputs) != len(other.outputs):
        return False
    known: dict[ir.Value, ir.Value] = {}
    for mine, theirs in zip(first, second, strict=True):
        key = node_key(mine)
        if key is None or key != node_key(theirs):
            return False
        pairs = zip(mine.inputs, theirs.inputs, strict=True)
        if not all(_same_value(a, b, known) for a, b in pairs):
            return False
        known |= dict(zip(mine.outputs, theirs.outputs, strict=True))
    outputs = zip(one.outputs, other.outputs, strict=True)
    return all(_same_value(a, b, known) for a, b in outputs)


def _same_value(a: ir.Value | None, b: ir.Value | None, known: Mapping[ir.Value, ir.Value]) -> bool:
    if a is None or b is None:
        return a is b
    first, second = constant_of(a), constant_of(b)
    if first is not None and second is not None:
        return same_content(first, second)
    return known.get(a, a) is b
