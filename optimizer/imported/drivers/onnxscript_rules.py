"""onnxscript's rewrite rules, one match at a time, on a copy of the model; in a worker only.

Rules are asked by the operator of their root, about all nodes first and then around what changed.
Each match that fits is carried out on the copy, so that the next one is found in the graph as it is
by then, and written down as data. What `onnxscript.rewriter` would do otherwise, and wrongly, is
put right here and in `onnxscript_guards`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import onnx
import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.imported.drivers.onnxscript_guards import SHARED_BY, detached, guarded, recorded
from optimizer.imported.drivers.onnxscript_replacement import Offer, Scope, Unfit, fitting
from optimizer.imported.drivers.onnxscript_sets import NamedRule, Phase, phases_of
from optimizer.imported.matches import (
    AddedConstant,
    AddedNode,
    Found,
    FoundMatch,
    NearMiss,
    Numbering,
)
from optimizer.model.graph import walk_graphs, walk_nodes

KNOWN = frozenset({"", "ai.onnx.ml", "com.microsoft"})
"""Operator sets of which something runs every operator."""
MAX_GENERATION = 32
"""Matches that each take up what the one before added and leave no fewer nodes, until they are
said to have no end."""
MAX_TURNS = 16
"""Searches, each without those matches that left an operator behind that nothing runs."""

Ban = tuple[str, str]
"""A rule, and the name of what its root makes."""


def find(
    model: bytes, options: Mapping[str, Any], banned: Collection[Ban], most: int
) -> tuple[Found, bytes]:
    """The matches of rules in a model, in order, and the model after them.

    Args:
        model: the file's bytes.
        options: `rules`, names of sets; `commute`.
        banned: what is not to be done again.
        most: matches after which to stop.

    Raises:
        StudioError: there are no such rules.
    """
    phases = phases_of(options["rules"], swapped=options["commute"])
    unfinished: dict[Ban, NearMiss] = {}
    while True:
        search = _Search(ir.from_proto(onnx.ModelProto.FromString(model)), most)
        search.banned = frozenset([*banned, *unfinished])
        search.run(phases)
        fresh = search.endless or (search.unfinished() if len(search.matches) < most else {})
        if not fresh or len(unfinished) > MAX_TURNS:
            break
        unfinished |= fresh
    near = (*search.near.values(), *unfinished.values())
    return Found(tuple(search.matches), near), search.serialized()


@dataclass(slots=True)
class _Search:
    """One search; the model is the copy that matches are carried out on."""

    model: ir.Model
    most: int
    banned: frozenset[Ban] = frozenset()
    matches: list[FoundMatch] = field(default_factory=list[FoundMatch])
    near: dict[tuple[str, str], NearMiss] = field(default_factory=dict[tuple[str, str], NearMiss])
    endless: dict[Ban, NearMiss] = field(default_factory=dict[Ban, NearMiss])
    raised: set[str] = field(default_factory=set[str])
    nodes: dict[ir.Node, str] = field(default_factory=dict[ir.Node, str])
    values: dict[ir.Value, str] = field(default_factory=dict[ir.Value, str])
    generation: dict[ir.Node, int] = field(default_factory=dict[ir.Node, int])
    strange: dict[ir.Node, Ban] = field(default_factory=dict[ir.Node, Ban])
    names: set[str] = field(default_factory=set[str])
    numbers: Counter[str] = field(default_factory=Counter[str])
    defaults: dict[ir.Value, ir.TensorProtocol] = field(
        default_factory=dict[ir.Value, ir.TensorProtocol]
    )
    known: frozenset[str] = KNOWN
    acted: Counter[str] = field(default_factory=Counter[str])
    constants: int = 0
    added: int = 0
    counted: int = 0

    def run(self, phases: Sequence[Phase]) -> None:
        """All phases, each on the graph and its bodies."""
        counted = Numbering.of(self.model)
        self.nodes = {node: name for name, node in counted.nodes.items()}
        self.values = {value: name for name, value in counted.values.items()}
        self.counted = len(self.nodes)
        self.names = {value.name for value in self.values if value.name}
        self.known |= {*self.model.opset_imports}
        for value in self.model.graph.inputs:  # a caller may give other numbers
            if value.const_value is not None:
                self.defaults[value], value.const_value = value.const_value, None
        optimizer: Any = import_module("onnxscript.optimizer")
        optimizer.basic_constant_propagation(walk_nodes(self.model.graph))
        with guarded(self.model.opset_imports):
            for phase in phases:
                for graph in walk_graphs(self.model.graph):
                    self._phase(phase, graph)

    def serialized(self) -> bytes:
        """The model after all matches."""
        for value, default in self.defaults.items():
            value.const_value = default
        return ir.to_proto(self.model).SerializeToString()

    def unfinished(self) -> dict[Ban, NearMiss]:
        """Matches that left an operator behind that nothing runs."""
        found: dict[Ban, NearMiss] = {}
        for node, ban in self.strange.items():
            if node.graph is not None:
                told = f"No rule takes up what it makes, and nothing runs it: {node.op_type}"
                found[ban] = NearMiss(ban[0], self._origin(node), told)
        return found

    def _origin(self, node: ir.Node) -> str:
        """A node of the source that a new node did the work of."""
        by_name = {made.name: match for match in self.matches for made in match.nodes}
        name = self.nodes[node]
        while name in by_name:
            name = by_name[name].matched[0]
        return name

    # ---- asking

    def _phase(self, phase: Phase, graph: ir.Graph) -> None:
        for named in phase.rules:
            _call(named.rule.graph_pre_visitor)
        queue, waiting = deque(graph), set(graph)
        while queue and len(self.matches) < self.most and not self.endless:
            node = queue.popleft()
            waiting.discard(node)
            if node.graph is not graph:
                continue
            for named in phase.asked_about((node.domain, node.op_type)):
                offer = self._ask(named, graph, node)
                if offer is not None:
                    for woken in self._carry_out(offer, phase.reach):
                        if woken not in waiting:
                            waiting.add(woken)
                            queue.append(woken)
                    break
        for named in phase.rules:
            _call(named.rule.graph_post_visitor)

    def _ask(self, named: NamedRule, graph: ir.Graph, node: ir.Node) -> Offer | None:
        """What a rule would do at a node; what it does not do leaves nothing behind."""
        self.near.pop((named.name, self.nodes[node]), None)
        name = named.name
        if name in self.raised or not self.banned.isdisjoint([(name, _place(node)), (name, "")]):
            return None
        with recorded() as built:
            try:
                return self._offered(named, graph, node)
            except Unfit as reason:
                self._miss(named, node, str(reason), reason.nodes, reason.unlock)
            except MemoryError:
                raise
            except Exception as error:  # a rule is somebody's code
                self.raised.add(named.name)
                told = quoted(f"{type(error).__name__}: {error}", limit=200)[1:-1]
                self._miss(named, node, f"it raises {told}", (), "", raised=True)
            detached(built)
        return None

    def _offered(self, named: NamedRule, graph: ir.Graph, node: ir.Node) -> Offer | None:
        rule, heard = named.rule, _Listener()
        match = rule.match(
            self.model, graph, node, check_nodes_are_removable=rule.remove_nodes, tracer=heard
        )
        delta = rule._replacement_pattern.get_replacement(match) if match else None
        if delta is None:
            self._hear(named, node, match if heard.failed is None else heard.failed)
            raise Unfit("")
        offer = fitting(named, node, delta, Scope(graph, self.model.opset_imports, self.values))
        self._end(offer)
        return offer

    def _end(self, offer: Offer) -> None:
        """See to it that matches of a rule come to an end: one that has none is not asked."""
        old = max((self.generation.get(node, 0) for node in offer.matched), default=0)
        self.acted[offer.rule] += 1
        if old > MAX_GENERATION or self.acted[offer.rule] > 64 + 8 * self.counted:
            told = "Its matches take up what they make, without an end"
            root = self._origin(offer.root)
            self.endless[offer.rule, ""] = NearMiss(offer.rule, root, told)
            raise Unfit(told)

    def _hear(self, named: NamedRule, node: ir.Node, match: Any) -> None:
        """Why a whole pattern is not replaced, in the rule's words; half a pattern is nothing."""
        if match is None:
            return
        told = str(match.reason).strip().partition("\n")[0]
        if "crossing graph boundaries" in told and any(map(_captures, match.nodes)):
            raise Unfit("The pattern crosses the border of a body", match.nodes)
        if len(match.nodes) >= named.nodes > 1:
            told = "Its condition does not hold" if told.startswith("Condition func") else told
            reason = quoted(told, limit=160)[1:-1] or "Its condition does not hold"
            raise Unfit(reason, match.nodes)

    def _miss(
        self, named: NamedRule, node: ir.Node, reason: str, nodes: Sequence[ir.Node],
        unlock: str, *, raised: bool = False,
    ) -> None:  # fmt: skip
        if reason:
            root = self.nodes[node]
            matched = tuple(self.nodes[one] for one in nodes if one in self.nodes)
            self.near[named.name, root] = NearMiss(
                named.name, root, reason, matched, unlock, raised
            )

    # ---- carrying out

    def _carry_out(self, offer: Offer, reach: int) -> Iterator[ir.Node]:
        """Change the copy, write it down, and say which nodes have to be looked at again."""
        place = _place(offer.root)
        read = [v for node in offer.matched for v in node.inputs if v is not None]
        constants = tuple(self._constant(offer.graph, value) for value in offer.constants)
        before = max((self.generation.get(node, 0) for node in offer.matched), default=0)
        leaves = len(offer.matched) if offer.removes else 1
        for node in offer.nodes:
            self._number(node)
            self.generation[node] = before + (len(offer.nodes) >= leaves)
            if node.domain not in self.known:
                self.strange[node] = (offer.rule, place)
        opsets = self._import(offer)
        values = tuple((self.values[old], self.values[new]) for old, new in offer.values.items())
        nodes = tuple(self._told(node) for node in offer.nodes)
        matched = tuple(self.nodes[node] for node in offer.matched)
        offer.put_in(self._fresh)
        optimizer: Any = import_module("onnxscript.optimizer")
        optimizer.basic_constant_propagation(offer.nodes)
        closed = all(node.graph is None for node in self.strange)
        self.matches.append(
            FoundMatch(offer.rule, place, matched, values, nodes, constants, opsets, closed)
        )
        yield from self._woken(offer, read, reach)

    def _woken(self, offer: Offer, read: Sequence[ir.Value], reach: int) -> Iterator[ir.Node]:
        """New nodes; who reads what changed, as far as a pattern reaches; readers beside it."""
        yield from offer.nodes
        few = (v for v in read if v.const_value is None or len(v.uses()) <= SHARED_BY)
        changed, seen = [*offer.values.values(), *few], set[ir.Node]()
        for value in read:
            if (maker := value.producer()) is not None:
                yield maker
        for _ in range(reach):
            readers = dict.fromkeys(use.node for value in changed for use in value.uses())
            fresh = [node for node in readers if node not in seen]
            seen.update(fresh)
            yield from fresh
            changed = [value for node in fresh for value in node.outputs]

    def _number(self, node: ir.Node) -> None:
        name = self.nodes[node] = f"+{self.added}"
        self.added += 1
        for index, output in enumerate(node.outputs):
            self.values[output] = f"{name}:{index}"

    def _constant(self, graph: ir.Graph, value: ir.Value) -> AddedConstant:
        """Put a constant into the graph under a name that is free."""
        tensor = value.const_value
        assert tensor is not None
        hint = value.name or "constant"
        name = self.values[value] = f"c{self.constants}"
        self.constants += 1
        value.name = self._fresh(hint)
        graph.initializers[value.name] = value
        return AddedConstant(name, hint, ir.to_proto(tensor).SerializeToString())

    def _import(self, offer: Offer) -> tuple[tuple[str, int], ...]:
        imported = self.model.graph.opset_imports
        new = {d: v or 1 for d, v in offer.opsets.items() if d not in imported}
        imported.update(new)
        return tuple(sorted(new.items()))

    def _told(self, node: ir.Node) -> AddedNode:
        return AddedNode(
            self.nodes[node],
            node.op_type,
            node.domain,
            tuple(None if value is None else self.values[value] for value in node.inputs),
            tuple(ir.to_proto(a).SerializeToString() for a in node.attributes.values()),
            len(node.outputs),
        )

    def _fresh(self, hint: str) -> str:
        name = hint
        while name in self.names:
            self.numbers[hint] += 1
            name = f"{hint}_{self.numbers[hint]}"
        self.names.add(name)
        return name


class _Listener:
    """Stands in for onnxscript's tracer: keeps a match whose checks failed."""

    def __init__(self) -> None:
        self.failed: Any = None

    def log(self, _rule: Any, _graph: Any, _node: Any, match: Any, status: Any) -> None:
        """A match that came to nothing, or did."""
        self.failed = None if status.name == "SUCCESS" else match


def _captures(node: ir.Node) -> bool:
    """Whether a node reads what a node of an outer graph makes."""
    makers = (value.producer() for value in node.inputs if value is not None)
    return any(maker is not None and maker.graph is not node.graph for maker in makers)


def _call(visitor: Callable[[], object] | None) -> None:
    """What a rule wants done before or after a graph is searched."""
    if visitor is not None:
        visitor()


def _place(node: ir.Node) -> str:
    return next((value.name for value in node.outputs if value.name), "")
