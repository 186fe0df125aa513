"""One walk over a parsed model that finds everything wrong with it, in linear time.

Nothing native looks at the model before this walk has passed it. Names follow ONNX's scoping: a
body sees the values of the graphs around it, and every value is defined once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto

from optimizer.errors import (
    Cycle,
    Duplicate,
    InvalidGraph,
    LimitError,
    Undefined,
    quoted,
)
from optimizer.limits import Limits
from optimizer.model.conformance import Facts, Rules, check_node, check_stored, check_stored_sparse
from optimizer.model.declared import check_declared, check_input, check_name
from optimizer.model.functions import (
    CallSite,
    FunctionKey,
    call_key,
    check_expansion,
    function_key,
)
from optimizer.model.report import Findings, Place
from optimizer.model.versions import check_versions, imported


def validate(proto: ModelProto, limits: Limits, report: Findings) -> Facts:
    """Check a parsed model, and make the small repairs that checking comes across.

    Raises:
        LimitError: a limit is passed that would make the rest of the walk expensive.
    """
    versions = check_versions(proto, report)
    functions: dict[FunctionKey, FunctionProto] = {}
    for function in proto.functions:
        if functions.setdefault(function_key(function), function) is not function:
            message = f"The function {quoted(function.name)} is defined twice."
            report.error(Duplicate, "model", message)
    rules = Rules(limits, report, versions, functions)
    walk = _Walk(rules)
    main = walk.main(proto.graph)
    sites = {key: walk.function(function) for key, function in functions.items()}
    for domain in sorted(rules.assumed):
        proto.opset_import.add(domain=domain, version=1)
        message = f"It uses {quoted(domain)} without importing it; its only version was assumed."
        report.warning("model", message)
    if not report.refused:
        check_expansion(main, sites, limits, report)
    return rules.facts


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a body stands: the values around it, its place in words, what it is counted for."""

    outer: tuple[Mapping[str, int], ...] = ()
    place: Place | None = None
    site: CallSite = field(default_factory=CallSite)


class _Walk:
    """The walk itself, over the main graph and every function."""

    def __init__(self, rules: Rules) -> None:
        self._rules: Rules = rules
        self._facts = rules.facts
        self._report = rules.report
        self._limits = rules.limits
        self._nodes = 0

    def main(self, graph: GraphProto) -> CallSite:
        limit, scope = self._limits.name, _Scope()
        for info in graph.input:
            check_name(info.name, Place("input", info.name), limit=limit, report=self._report)
            check_input(info, Place("input", info.name), self._report)
        for info in graph.output:
            check_name(info.name, Place("output", info.name), limit=limit, report=self._report)
        self._graph(graph, scope)
        if not graph.output:
            message = "The graph has no outputs, so there is nothing to run."
            self._report.warning("model", message, blocks=["runnable"])
        return scope.site

    def function(self, function: FunctionProto) -> CallSite:
        place = Place("function", function.name)
        scope = _Scope(place=place)
        main_rules = self._rules
        versions = imported(function.opset_import, str(place), self._report)
        self._rules = replace(main_rules, versions=versions, in_function=True)
        defined = self._inputs(function.input, scope)
        for info in function.value_info:
            check_declared(info, Place("value", info.name, around=place), self._report)
        self._body(function.node, defined, scope)
        for name in function.output:
            if name not in defined:
                self._undefined(name, place)
        self._rules = main_rules
        return scope.site

    def _graph(self, graph: GraphProto, scope: _Scope) -> set[str]:
        """Check a graph or body; returns the names it takes from the graphs around it."""
        defined = self._inputs([info.name for info in graph.input], scope)
        self._initializers(graph, defined, scope)
        self._declarations("value", graph.value_info, scope)
        self._declarations("output", graph.output, scope)
        if scope.outer:  # the main graph's inputs are checked more strictly
            self._declarations("input", graph.input, scope)
        borrowed = self._body(graph.node, defined, scope)
        for info in graph.output:
            if info.name in defined:
                continue
            if any(info.name in around for around in scope.outer):
                self._facts.borrowed_outputs.append((graph, info.name))
                borrowed.add(info.name)
            else:
                self._undefined(info.name, Place("output", info.name, around=scope.place))
        return borrowed

    def _inputs(self, names: Iterable[str], scope: _Scope) -> dict[str, int]:
        defined: dict[str, int] = {}
        for number, name in enumerate(names, 1):
            if not name or name in defined:
                kind, message = (
                    (Duplicate, "Another input has the same name.")
                    if name
                    else (InvalidGraph, "It has no name.")
                )
                place = Place("input", name, around=scope.place, number=number)
                self._report.error(kind, place, message)
            defined[name] = -1
        return defined

    def _initializers(self, graph: GraphProto, defined: dict[str, int], scope: _Scope) -> None:
        seen: set[str] = set()
        for number, tensor in enumerate(graph.initializer, 1):
            where = Place("initializer", tensor.name, around=scope.place, number=number)
            check_stored(tensor, where, self._rules)
            self._define_initializer(tensor.name, seen, where)
        for number, sparse in enumerate(graph.sparse_initializer, 1):
            name = sparse.values.name
            where = Place("sparse initializer", name, around=scope.place, number=number)
            check_stored_sparse(sparse, where, self._rules)
            self._define_initializer(name, seen, where)
        defined.update(dict.fromkeys(seen, -1))

    def _define_initializer(self, name: str, seen: set[str], where: Place) -> None:
        if not name:
            self._report.error(InvalidGraph, where, "It has no name.")
        elif name in seen:
            self._report.error(Duplicate, where, "Another initializer has the same name.")
        seen.add(name)

    def _declarations(self, what: str, infos: Iterable[ValueInfoProto], scope: _Scope) -> None:
        for info in infos:
            check_declared(info, Place(what, info.name, around=scope.place), self._report)

    def _body(self, nodes: Sequence[NodeProto], defined: dict[str, int], scope: _Scope) -> set[str]:
        """Check a list of nodes, adding what they define; returns the names taken from outside."""
        self._limit_nodes(len(nodes))
        self._define_outputs(nodes, defined, scope)
        borrowed: set[str] = set()
        used_inside: dict[int, set[str]] = {}
        unsorted = False
        for index, node in enumerate(nodes):
            where = Place("node", node.name, around=scope.place, number=index + 1)
            bodies = check_node(node, where, self._rules)
            self._count(node, scope)
            names: Iterable[str] = node.input
            if bodies:
                used_inside[index] = self._bodies(bodies, defined, where, scope)
                names = (*names, *used_inside[index])
            for name in names:
                position = defined.get(name)
                if position is not None:
                    unsorted |= position >= index
                elif any(name in around for around in scope.outer):
                    borrowed.add(name)
                elif name:
                    self._undefined(name, where)
        if unsorted:
            self._facts.unsorted = True
            self._check_cycle(nodes, defined, used_inside, scope)
        return borrowed

    def _limit_nodes(self, more: int) -> None:
        self._nodes += more
        limit = self._limits.nodes
        if self._nodes > limit:
            message = f"The model has more than {limit:,} nodes (limit {limit:,})."
            self._report.error(LimitError, "model", message, remedy="Split the model.")
            self._report.raise_if_refused()

    def _define_outputs(
        self, nodes: Sequence[NodeProto], defined: dict[str, int], scope: _Scope
    ) -> None:
        for index, node in enumerate(nodes):
            for name in node.output:
                if name in defined:
                    where = Place("node", node.name, around=scope.place, number=index + 1)
                    message = f"It defines {quoted(name)}, which is already defined."
                    self._report.error(Duplicate, where, message)
                elif name:
                    defined[name] = index

    def _count(self, node: NodeProto, scope: _Scope) -> None:
        site, key, depth = scope.site, call_key(node), len(scope.outer)
        if key in self._rules.functions:
            site.calls[key] += 1
            site.depth[key] = max(depth, site.depth.get(key, 0))
        else:
            site.own += 1

    def _bodies(
        self,
        bodies: Sequence[tuple[str, GraphProto]],
        defined: Mapping[str, int],
        where: Place,
        scope: _Scope,
    ) -> set[str]:
        outer = (*scope.outer, defined)
        limit = self._limits.depth
        if len(outer) > limit:
            message = f"Its bodies are nested more than {limit} deep (limit {limit})."
            self._report.error(LimitError, where, message, remedy="Flatten the If and Loop bodies.")
            return set()
        self._facts.bodies = True
        scope.site.own_depth = max(scope.site.own_depth, len(outer))
        names: set[str] = set()
        for name, graph in bodies:
            place = Place("body", name, around=where)
            names |= self._graph(graph, _Scope(outer, place, scope.site))
        return names

    def _check_cycle(
        self,
        nodes: Sequence[NodeProto],
        defined: Mapping[str, int],
        used_inside: Mapping[int, set[str]],
        scope: _Scope,
    ) -> None:
        sorter = TopologicalSorter(
            {
                index: {
                    position
                    for name in (*node.input, *used_inside.get(index, ()))
                    if (position := defined.get(name, -1)) >= 0
                }
                for index, node in enumerate(nodes)
            }
        )
        try:
            sorter.prepare()
        except CycleError as error:
            cycle: list[int] = error.args[1][:-1]
            shown = [Place("node", nodes[i].name, number=i + 1) for i in cycle[:5]]
            chain = " → ".join(str(place) for place in [*shown, shown[0]])
            where = scope.place or "model"
            self._report.error(Cycle, where, f"Nodes depend on each other in a circle: {chain}.")

    def _undefined(self, name: str, where: Place) -> None:
        self._report.error(Undefined, where, f"It uses {quoted(name)}, which is never defined.")
