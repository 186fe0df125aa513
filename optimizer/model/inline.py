"""Inlines the model's own functions, in the file's form, so that the graph holds operators only.

A call is replaced by a copy of the function's nodes: formal names become the caller's, inner names
become new ones, references to the function's attributes become the values given at the call. The
call graph has been checked for circles and for the size of the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto

from optimizer.errors import InvalidGraph, quoted
from optimizer.model.functions import FunctionKey, call_key, function_key
from optimizer.model.generated_functions import is_generated
from optimizer.model.nesting import FreshNames, body_protos, node_lists, value_names
from optimizer.model.outlined_functions import is_outlined
from optimizer.model.own_functions import is_own
from optimizer.model.report import Findings, Place
from optimizer.model.signatures import signature
from optimizer.operators.generated import GENERATED
from optimizer.operators.layouts import LAYOUTS
from optimizer.operators.outlined import OUTLINED

_LONGEST_PREFIX = 200
"""Deeply nested calls get short names beyond this, or names would grow with every level."""


def inline_functions(proto: ModelProto, report: Findings) -> None:
    """Replace all calls of the model's functions by their nodes, but for those that we write.

    If a function needs another version of an operator than the model, all functions are left as
    they are and the model cannot be optimized.
    """
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    kept = _kept(proto.functions, versions)
    functions = {
        function_key(function): function for function in proto.functions if function not in kept
    }
    if not functions:
        return
    called = {call_key(node) for nodes in node_lists(proto) for node in nodes} & functions.keys()
    for key in sorted(called):
        conflict = _version_conflict(functions[key], versions, functions)
        if conflict:
            where = Place("function", functions[key].name)
            message = f"{conflict}, so the functions were not inlined."
            report.warning(where, message, blocks=("optimizable",))
            return
        for entry in functions[key].opset_import:
            if versions.setdefault(entry.domain, entry.version) == entry.version:
                _import(proto, entry.domain, entry.version)
    inliner = _Inliner(functions, FreshNames(value_names(proto)), report)
    inliner.graph(proto.graph)
    del proto.functions[:]
    proto.functions.extend(kept)
    report.note("model", f"{inliner.calls:,} calls of {len(called):,} functions were inlined.")


def expanded(call: NodeProto, function: FunctionProto) -> list[NodeProto]:
    """The nodes that one call of a function stands for."""
    taken = [*call.input, *call.output]
    inliner = _Inliner({call_key(call): function}, FreshNames(taken), Findings())
    return inliner.expand(call)


def _kept(functions: Sequence[FunctionProto], versions: Mapping[str, int]) -> list[FunctionProto]:
    """Those that we write ourselves; of layouts, whose functions call each other, all or none."""
    ours: dict[str, list[FunctionProto]] = {LAYOUTS: [], GENERATED: [], OUTLINED: []}
    for function in functions:
        if function.domain in ours:
            ours[function.domain].append(function)
    layouts = ours[LAYOUTS] if all(is_own(f) and _fits(f, versions) for f in ours[LAYOUTS]) else []
    generated = (f for f in ours[GENERATED] if is_generated(f) and _fits(f, versions))
    others = {function_key(f) for f in functions}
    outlined = (f for f in ours[OUTLINED] if is_outlined(f, others) and _fits(f, versions))
    kept: list[FunctionProto] = []
    for function in (*layouts, *generated, *outlined):
        kept.append(FunctionProto())
        kept[-1].CopyFrom(function)
    return kept


def _fits(function: FunctionProto, versions: Mapping[str, int]) -> bool:
    return all(versions.get(entry.domain) == entry.version for entry in function.opset_import)


def _import(proto: ModelProto, domain: str, version: int) -> None:
    if all(entry.domain != domain for entry in proto.opset_import):
        proto.opset_import.add(domain=domain, version=version)


def _version_conflict(
    function: FunctionProto,
    versions: Mapping[str, int],
    functions: Mapping[FunctionKey, FunctionProto],
) -> str:
    own = {entry.domain: entry.version for entry in function.opset_import}
    differing = {d for d, version in own.items() if versions.get(d, version) != version}
    if not differing:
        return ""
    stack: list[Iterable[NodeProto]] = [function.node]
    while stack:
        for node in stack.pop():
            stack.extend(body.node for _, body in body_protos(node))
            domain, operator = node.domain, node.op_type
            if call_key(node) in functions or domain not in differing:
                continue
            mine = signature(domain, operator, own[domain])
            theirs = signature(domain, operator, versions[domain])
            if mine is None or theirs is None or mine.since != theirs.since:
                return (
                    f"Its {quoted(operator)} is of opset {own[domain]}, "
                    f"which differs from the model's opset {versions[domain]}"
                )
    return ""


@dataclass(slots=True)
class _Frame:
    """One call being expanded, or one body inside of it.

    Attributes:
        names: what the names of the function's text stand for in the caller.
        attributes: the values that references to attributes stand for.
        prefix: put before the names of nodes and inner values.
        around: the frame of the graph around a body.
    """

    names: dict[str, str]
    attributes: Mapping[str, AttributeProto]
    prefix: str
    around: _Frame | None = None
    after: list[NodeProto] = field(default_factory=list[NodeProto])

    def resolve(self, name: str) -> str:
        frame: _Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.around
        return name


class _Inliner:
    """Expands calls; `calls` counts them."""

    def __init__(
        self, functions: Mapping[FunctionKey, FunctionProto], fresh: FreshNames, report: Findings
    ) -> None:
        self._functions = functions
        self._fresh = fresh
        self._report = report
        self.calls = 0

    def graph(self, graph: GraphProto) -> None:
        """Expand all calls in a graph outside of functions, and in its bodies."""
        for node in graph.node:
            for _, body in body_protos(node):
                self.graph(body)
        if any(call_key(node) in self._functions for node in graph.node):
            _replace_nodes(graph.node, self._expand(graph.node, None))

    def expand(self, call: NodeProto) -> list[NodeProto]:
        """The nodes of one call."""
        return self._expand([call], None)

    def _expand(self, nodes: Iterable[NodeProto], frame: _Frame | None) -> list[NodeProto]:
        """The nodes with every call replaced, however deep the calls go."""
        expanded: list[NodeProto] = []
        stack: list[tuple[Iterator[NodeProto], _Frame | None]] = [(iter(nodes), frame)]
        while stack:
            rest, current = stack[-1]
            node = next(rest, None)
            if node is None:
                stack.pop()
                if current is not None:
                    expanded.extend(current.after)
                continue
            copy = node if current is None else self._instance(node, current)
            function = self._functions.get(call_key(copy))
            if function is None:
                expanded.append(copy)
            else:
                self.calls += 1
                stack.append((iter(function.node), self._enter(copy, function)))
        return expanded

    def _enter(self, call: NodeProto, function: FunctionProto) -> _Frame:
        given = [*call.input, *[""] * (len(function.input) - len(call.input))]
        attributes = {attribute.name: attribute for attribute in function.attribute_proto}
        attributes.update((attribute.name, attribute) for attribute in call.attribute)
        prefix = call.name if 0 < len(call.name) <= _LONGEST_PREFIX else function.name
        frame = _Frame(dict(zip(function.input, given, strict=False)), attributes, prefix)
        returned: set[str] = set(function.input)
        for formal, actual in zip(function.output, call.output, strict=False):
            if actual and formal in returned:
                self._return_again(formal, actual, frame)
            elif actual:
                frame.names[formal] = actual
                returned.add(formal)
        self._name_outputs(function.node, frame)
        return frame

    def _return_again(self, formal: str, actual: str, frame: _Frame) -> None:
        source = frame.names[formal]
        if not source:
            message = f"It returns its input {quoted(formal)}, which the call leaves out."
            self._report.error(InvalidGraph, Place("node", frame.prefix), message, remedy="")
        identity = NodeProto(op_type="Identity", input=[source], output=[actual])
        identity.name = f"{frame.prefix}/{formal}"
        frame.after.append(identity)

    def _name_outputs(self, nodes: Iterable[NodeProto], frame: _Frame) -> None:
        for node in nodes:
            for name in node.output:
                if name and name not in frame.names:
                    frame.names[name] = self._fresh.make(f"{frame.prefix}/{name}")

    def _instance(self, node: NodeProto, frame: _Frame) -> NodeProto:
        copy = NodeProto()
        copy.CopyFrom(node)
        copy.name = f"{frame.prefix}/{node.name or node.op_type}"
        copy.input[:] = [frame.resolve(name) for name in node.input]
        copy.output[:] = [frame.resolve(name) for name in node.output]
        if any(attribute.ref_attr_name for attribute in node.attribute):
            resolved = list(_resolved(node.attribute, frame.attributes))
            del copy.attribute[:]
            copy.attribute.extend(resolved)
        # A body given as an attribute of the call is the caller's text and stays as it is.
        own = {attribute.name for attribute in node.attribute if not attribute.ref_attr_name}
        for name, body in body_protos(copy):
            if name.split("[")[0] in own:
                self._instantiate_body(body, frame)
        return copy

    def _instantiate_body(self, body: GraphProto, around: _Frame) -> None:
        frame = _Frame({}, around.attributes, around.prefix, around)
        for info in body.input:
            frame.names[info.name] = self._fresh.make(f"{frame.prefix}/{info.name}")
        for tensor in body.initializer:
            if tensor.name not in frame.names:
                frame.names[tensor.name] = self._fresh.make(f"{frame.prefix}/{tensor.name}")
            tensor.name = frame.names[tensor.name]
        self._name_outputs(body.node, frame)
        for infos in (body.input, body.output, body.value_info):
            for info in infos:
                info.name = frame.resolve(info.name)
        _replace_nodes(body.node, self._expand(body.node, frame))


def _resolved(
    attributes: Iterable[AttributeProto], given: Mapping[str, AttributeProto]
) -> Iterator[AttributeProto]:
    for attribute in attributes:
        reference = attribute.ref_attr_name
        if not reference:
            yield attribute
        elif reference in given:
            copy = AttributeProto()
            copy.CopyFrom(given[reference])
            copy.name = attribute.name
            yield copy


def _replace_nodes(nodes: MutableSequence[NodeProto], new: Iterable[NodeProto]) -> None:
    # Copied first: `new` may hold nodes of the very list that is emptied.
    kept = GraphProto()
    kept.node.extend(new)
    del nodes[:]
    nodes.extend(kept.node)
