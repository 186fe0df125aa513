"""Where a pattern is, and where it nearly is."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.patterns.found import OPERATOR, Found, Miss
from optimizer.patterns.matcher import Matcher, hold, may_end
from optimizer.patterns.pattern import Pattern
from optimizer.rules import Context, Declined, operator_of
from optimizer.rules.wording import escaping


def find(pattern: Pattern, root: ir.Node, context: Context) -> Found | Declined | None:
    """The pattern, where it ends at `root` and does not go on further down.

    Returns: None also for a near miss that is nearer at a node beside: it is stated there.
    """
    found = attempt(pattern, root, context)
    if found is None:
        return None
    if not found.misses:
        further = _further(pattern, root, context)
        return None if further is not None and not further.misses else found
    beside = [_further(pattern, root, context), *_inside(pattern, root, found, context)]
    if any(other is not None and other.distance < found.distance for other in beside):
        return None
    return found.misses[0].declined()


def attempt(pattern: Pattern, root: ir.Node, context: Context) -> Found | None:
    """The pattern or a near miss at one node; None where it is neither."""
    if not may_end(pattern.root, root):
        return None  # as nearly always: nothing is made for that
    found = Found(pattern.title, nodes={root: None})
    search = Matcher(context)
    if not search.look(pattern.root, root.outputs[0], found, None):
        return None
    if found.weight < OPERATOR:
        hold(pattern.where, found, context)
        blocked = escaping([*found.nodes], root)
        if blocked is not None:
            needs, _, there = blocked.reason.partition(": ")
            found.misses.append(Miss(needs, there, blocked.nodes))
    return found if found.is_near else None


def _further(pattern: Pattern, root: ir.Node, context: Context) -> Found | None:
    """The pattern at the only consumer of a node, if it has the node in it."""
    output = root.outputs[0]
    if not context.single_use(output):
        return None
    ((consumer, _),) = output.uses()
    if consumer.graph is not root.graph or not _may_end(pattern, consumer):
        return None
    found = attempt(pattern, consumer, context)
    return found if found is not None and root in found.nodes else None


def _inside(
    pattern: Pattern, root: ir.Node, found: Found, context: Context
) -> Iterator[Found | None]:
    """The pattern at the other nodes of a near miss."""
    for node in found.nodes:
        if node is not root and _may_end(pattern, node):
            yield attempt(pattern, node, context)


def _may_end(pattern: Pattern, node: ir.Node) -> bool:
    return operator_of(node) in pattern.roots
