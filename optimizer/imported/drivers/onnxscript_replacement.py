"""What a rule offers: whether it may be done, and how it is done on a copy of the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx
import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.imported.drivers.onnxscript_sets import NamedRule
from optimizer.model.graph import bodies, is_used

HIGHER = "Switch on raise-opset."


class Unfit(Exception):
    """A match that is not carried out; the text says why, and is empty for what is no match."""

    def __init__(self, reason: str, nodes: Sequence[ir.Node] = (), unlock: str = "") -> None:
        super().__init__(reason)
        self.nodes, self.unlock = tuple(nodes), unlock


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a rule is asked.

    Attributes:
        graph: the graph, or a body.
        opsets: operator sets of the model.
        known: values of all graphs.
    """

    graph: ir.Graph
    opsets: Mapping[str, int]
    known: Mapping[ir.Value, str]


@dataclass(slots=True)
class Offer:
    """One match that may be carried out.

    Attributes:
        matched: nodes of the pattern.
        values: old output -> what takes its place, a new value or one of the graph.
        nodes: new ones.
        constants: new values that hold a tensor.
        opsets: operator sets that the rule names, with the version it asks for.
        removes: whether the rule takes out all that it matches.
    """

    rule: str
    scope: Scope
    root: ir.Node
    matched: Sequence[ir.Node]
    values: dict[ir.Value, ir.Value]
    nodes: list[ir.Node]
    constants: list[ir.Value]
    opsets: Mapping[str, int | None]
    removes: bool = True

    @property
    def graph(self) -> ir.Graph:
        """Where the pattern lies."""
        return self.scope.graph

    def put_in(self, fresh: Callable[[str], str]) -> None:
        """Change the graph; new values take the names of the old ones."""
        last = self.root if len(self.values) == 1 else self._last()
        for node in self.nodes:
            node.name = None
            for value in node.outputs:
                value.name = fresh(f"{self.rule}_value")
        self.graph.insert_after(last, self.nodes)
        for old, new in self.values.items():
            self._replace(old, new, fresh)
        if len(self.values) > 1:
            self.graph.sort()
        left, gone = [*self.matched], True
        while gone:  # a node goes once all that read it have gone
            gone = [node for node in left if not any(map(is_used, node.outputs))]
            self.graph.remove(gone, safe=True)
            left = [node for node in left if node not in gone]

    def _last(self) -> ir.Node:
        """The matched node that stands last."""
        matched = set(self.matched)
        return [node for node in self.graph if node in matched][-1]

    def _replace(self, old: ir.Value, new: ir.Value, fresh: Callable[[str], str]) -> None:
        name = old.name
        for use in tuple(old.uses()):
            use.node.replace_input_with(use.idx, new)
        was_output = old.is_graph_output()
        if was_output:
            for index, output in enumerate(self.graph.outputs):
                if output is old:
                    self.graph.outputs[index] = new
        made = new.producer() in self.nodes
        if made or was_output:
            old.name = fresh(f"{name}_before")
            new.name = name
        if made:
            new.type, new.shape = old.type or new.type, old.shape or new.shape


def fitting(named: NamedRule, root: ir.Node, delta: Any, scope: Scope) -> Offer:
    """An offer of a rule that may be carried out.

    Args:
        named: the rule.
        root: the node it was asked about.
        delta: what onnxscript calls a replacement subgraph.
        scope: where that is.

    Raises:
        Unfit: it may not.
    """
    values = dict(zip(delta.match.outputs, delta.new_outputs, strict=True))
    matched = tuple(dict.fromkeys(delta.match.nodes))
    nodes, constants = [*delta.new_nodes], [*delta.new_initializers]
    offer = Offer(
        named.name, scope, root, matched, values, nodes, constants, {}, named.rule.remove_nodes
    )
    _bypass(offer)
    if all(old is new for old, new in offer.values.items()):
        raise Unfit("")
    offer.opsets = _versions(delta.used_opsets, offer)
    for node in offer.nodes:
        _check_node(node, offer)
        _check_reads(node, offer)
    for old, new in values.items():
        if new not in scope.known and new.producer() not in offer.nodes:
            _check_constant(new, offer)
        _check_output(old, new, offer)
    if len(values) > 1:
        _check_circle(offer)
    return offer


def _bypass(offer: Offer) -> None:
    """Take what an Identity reads for the Identity that rules write to hand a value on."""
    for old, new in offer.values.items():
        maker = new.producer()
        if maker not in offer.nodes or maker.op_type != "Identity" or maker.domain:
            continue
        source = maker.inputs[0]
        if (
            source is None
            or source not in offer.scope.known
            or source in offer.values
            or new.uses()
        ):
            continue
        try:
            _check_output(old, source, offer)
        except Unfit:
            continue
        offer.values[old] = source
        offer.nodes.remove(maker)
        maker.replace_input_with(0, None)


def _versions(used: Any, offer: Offer) -> Mapping[str, int | None]:
    found: dict[str, int | None] = {}
    for domain, version in used:
        have = offer.scope.opsets.get(domain)
        if version is not None and have is not None and version != have:
            told = f"It writes another version of an operator set: {version}, here is {have}"
            higher = HIGHER if not domain and version > have else ""
            raise Unfit(told, offer.matched, higher)
        found[domain] = version or found.get(domain)
    return found


def _check_node(node: ir.Node, offer: Offer) -> None:
    """A new node is as the model's operator set has it."""
    matched = offer.matched
    if any(bodies(node)):
        raise Unfit(
            f"It makes a node with a body, which is not taken over: {node.op_type}", matched
        )
    if node.domain:
        return
    version = offer.scope.opsets.get("", 0)
    try:
        schema = onnx.defs.get_schema(node.op_type, version)
    except onnx.defs.SchemaError:
        told = f"Operator set {version} has no {node.op_type}"
        raise Unfit(told, matched, HIGHER) from None
    strange = next((name for name in node.attributes if name not in schema.attributes), None)
    if strange is not None:
        told = f"{node.op_type} of operator set {version} has no attribute {quoted(strange)}"
        raise Unfit(told, matched, HIGHER)
    if not schema.min_input <= len(node.inputs) <= schema.max_input:
        told = f"{node.op_type} of operator set {version} does not take {len(node.inputs)} inputs"
        raise Unfit(told, matched, HIGHER)


def _check_reads(node: ir.Node, offer: Offer) -> None:
    for value in node.inputs:
        if value is None or value.producer() in offer.nodes:
            continue
        if value in offer.values:
            raise Unfit("It reads what it takes the place of", offer.matched)
        if value not in offer.scope.known:
            _check_constant(value, offer)


def _check_constant(value: ir.Value, offer: Offer) -> None:
    """A value that nothing makes has to hold a tensor; it becomes an initializer."""
    if value.producer() is not None or value.const_value is None:
        raise Unfit("It reads a value that nothing makes", offer.matched)
    if value.const_value.dtype == ir.DataType.STRING:
        raise Unfit("It makes a constant of texts, which is not taken over", offer.matched)
    if value not in offer.constants:
        offer.constants.append(value)


def _check_output(old: ir.Value, new: ir.Value, offer: Offer) -> None:
    """A graph output keeps its name, so what takes its place is free to have it."""
    if not old.is_graph_output():
        return
    twice = sum(other is new for other in offer.values.values()) > 1
    if twice or new.is_graph_output():
        raise Unfit("two graph outputs would become the same value", offer.matched)
    if new.is_graph_input() or new.is_initializer() or new in offer.constants:
        raise Unfit("a graph output would become a graph input or a constant", offer.matched)
    maker = new.producer()
    if maker is not None and maker.graph is not None and maker.graph is not offer.graph:
        raise Unfit("an output of a body would become a value from outside", offer.matched)


def _check_circle(offer: Offer) -> None:
    """Nothing between two outputs of a pattern may need one of them to make what is matched."""
    matched, seen = set(offer.matched), set[ir.Node]()
    needed = {value for node in (*offer.matched, *offer.nodes) for value in node.inputs}
    pending = [use.node for old in offer.values for use in old.uses()]
    while pending:
        node = pending.pop()
        if node in seen or node in matched:
            continue
        seen.add(node)
        if any(value in needed for value in node.outputs):
            raise Unfit("the replacement needs what it gives", offer.matched)
        pending += [use.node for value in node.outputs for use in value.uses()]
