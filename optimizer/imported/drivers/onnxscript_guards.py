"""What onnxscript's rewriter gets wrong, put right for as long as a search lasts.

* An alternative of a pattern (`OrValue`) forgets the checks of its nodes and values.
* A pattern that writes an attribute does not find nodes that leave it at its default.
* What a replacement has built stays a reader of the graph's values, though nobody takes it.
* A pattern with several outputs is sought in the whole graph at every node, of whatever operator.

Source: onnxscript 0.7, `onnxscript/rewriter`; each has a test that fails without its guard.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any

import onnx
import onnx_ir as ir

SHARED_BY = 64
"""A constant with more readers connects nothing."""


@contextmanager
def guarded(opsets: Mapping[str, int]) -> Generator[None]:
    """The matcher of onnxscript, put right for a model of these operator sets."""
    basics: Any = import_module("onnxscript.rewriter._basics")
    terms: Any = import_module("onnxscript.rewriter._pattern_ir")
    merge, matches = basics.PartialMatchResult.merge, terms.NodePattern.matches

    def merge_all(into: Any, other: Any) -> None:
        merge(into, other)
        into._node_bindings.update(other._node_bindings)
        into._value_bindings.update(other._value_bindings)

    def matches_defaults(pattern: Any, node: ir.Node, match: Any) -> Any:
        left_out = [name for name in pattern.attributes if name not in node.attributes]
        known = defaults(node.domain, node.op_type, opsets.get(node.domain, 0))
        filled = [known[name] for name in left_out if name in known]
        for attribute in filled:
            node.attributes[attribute.name] = attribute
        try:
            return matches(pattern, node, match)
        finally:
            for attribute in filled:
                del node.attributes[attribute.name]

    with (
        _replaced(basics.PartialMatchResult, "merge", merge_all),
        _replaced(terms.NodePattern, "matches", matches_defaults),
    ):
        yield


@contextmanager
def _replaced(owner: Any, name: str, instead: object) -> Generator[None]:
    """Another attribute for a while: a worker is used again, by others."""
    before = getattr(owner, name)
    setattr(owner, name, instead)
    try:
        yield
    finally:
        setattr(owner, name, before)


@lru_cache(maxsize=4096)
def defaults(domain: str, op_type: str, version: int) -> Mapping[str, ir.Attr]:
    """Attributes of an operator that have a default."""
    try:
        schema = onnx.defs.get_schema(op_type, max(version, 1), domain)
    except onnx.defs.SchemaError:
        return {}
    return {
        name: ir.from_proto(attribute.default_value)
        for name, attribute in schema.attributes.items()
        if attribute.default_value.name
    }


@contextmanager
def recorded() -> Generator[list[ir.Node]]:
    """Every node that a replacement builds, taken or not."""
    context: Any = import_module("onnxscript.rewriter._context")
    builder = context.TapeBuilder
    built: list[ir.Node] = []

    class Recording(builder):
        def _add_node(self, node: ir.Node) -> None:
            built.append(node)
            super()._add_node(node)

    with _replaced(context, "TapeBuilder", Recording):
        yield built


def detached(nodes: Sequence[ir.Node]) -> None:
    """Have nodes that were built for nothing read nothing."""
    for node in nodes:
        for index in range(len(node.inputs)):
            node.replace_input_with(index, None)


class Surroundings:
    """A graph of which only those nodes are seen that a pattern rooted at one node may reach."""

    def __init__(self, graph: ir.Graph, root: ir.Node, reach: int) -> None:
        self.graph = graph
        self._nodes = [root, *(node for node in _near(root, reach) if node.graph is graph)]

    def __iter__(self) -> Iterator[ir.Node]:
        return iter(self._nodes)


def _near(root: ir.Node, reach: int) -> Iterator[ir.Node]:
    """What lies some nodes upstream of a node, and its readers, up to some nodes downstream."""
    values: dict[ir.Value, None] = {}
    above = [root]
    for _ in range(reach):
        read = [value for node in above for value in node.inputs if value is not None]
        above = [maker for value in read if value not in values and (maker := value.producer())]
        values.update(dict.fromkeys(read))
    upstream = dict.fromkeys(maker for value in values if (maker := value.producer()))
    yield from upstream
    seen = {root, *upstream}
    below = [value for value in values if value.const_value is None or _few_read(value)]
    for _ in range(reach):
        readers = dict.fromkeys(use.node for value in below for use in value.uses())
        fresh = [node for node in readers if node not in seen]
        seen.update(fresh)
        yield from fresh
        below = [value for node in fresh for value in node.outputs]


def _few_read(value: ir.Value) -> bool:
    return len(value.uses()) <= SHARED_BY


class NearMatcher:
    """A matcher of a pattern with several outputs that looks around its root only."""

    def __init__(self, matcher: Any, reach: int) -> None:
        self._matcher, self._reach = matcher, reach

    def match(self, model: ir.Model, graph: ir.Graph, node: ir.Node, **options: Any) -> Any:
        """What the matcher answers, of the node's surroundings."""
        near = Surroundings(graph, node, self._reach)
        return self._matcher.match(model, near, node, **options)
