"""Functions that stand for subgraphs which occur several times, such as the layers of a network.

What differs between the occurrences is an input, weights above all; small constants that are the
same everywhere stand in the body. A name ends with a hash of the body: a file with such a function
opens with its calls as they are if the hash agrees, any other function of a model is inlined.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir
from onnx import AttributeProto, FunctionProto
from onnx_ir import serde

from optimizer.constants import constant_of, same_content
from optimizer.model.functions import FunctionKey, call_key
from optimizer.model.generated_functions import content_hash
from optimizer.model.graph import is_used
from optimizer.model.region_functions import stands_inside
from optimizer.model.repeats import MISSING, Repeat, common_scope
from optimizer.operators.outlined import OUTLINED

VERSION = 1
"""Of their operator set."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,159}")
_GRAPHS = frozenset({AttributeProto.GRAPH, AttributeProto.GRAPHS})
_LONGEST_TOLD = 40

Slot = tuple[int, int]
"""An input, or an output, of one of the nodes: the node's place, and its own."""


@dataclass(frozen=True, slots=True)
class OutlinedFunction:
    """A repeat as a function.

    Attributes:
        function: for a model; one for all occurrences.
        reads: for each of its inputs, one that reads it.
        gives: for each of its outputs, what gives it.
        scopes: of each occurrence, as its nodes are named; empty where they do not say.
    """

    function: ir.Function
    reads: tuple[Slot, ...]
    gives: tuple[Slot, ...]
    scopes: tuple[str, ...]


def outlined_function(repeat: Repeat, opsets: Mapping[str, int]) -> OutlinedFunction:
    """The function of a repeat.

    Args:
        repeat: of a graph that is still as it was when this was found.
        opsets: of the model.
    """
    scopes = [common_scope(nodes) for nodes in repeat.occurrences]
    body = _Body(repeat, ["/".join(("", *scope)) for scope in scopes])
    graph = body.graph(opsets)
    function = ir.Function(OUTLINED, "", graph=graph, attributes=())
    told = _told(scopes[0]) or _operators(repeat)
    function.name = f"{told}_{content_hash(serde.serialize_function(function))}"
    named = [scope if body.is_told_by_scopes else "" for scope in body.scopes]
    return OutlinedFunction(function, body.reads, body.gives, tuple(named))


def is_outlined(function: FunctionProto, others: Collection[FunctionKey]) -> bool:
    """Whether a function of a model is one of these.

    Args:
        function: of the model.
        others: the functions of the model, none of which it calls.
    """
    if function.domain != OUTLINED or function.overload or not _NAME.fullmatch(function.name):
        return False
    if function.attribute or function.attribute_proto:
        return False
    if any(call_key(node) in others or node.domain == OUTLINED for node in function.node):
        return False
    attributes = (attribute for node in function.node for attribute in node.attribute)
    if any(one.ref_attr_name or one.type in _GRAPHS for one in attributes):
        return False
    return function.name.rpartition("_")[2] == content_hash(function)


def _told(scope: Sequence[str]) -> str:
    """What a name tells of a scope: its last two parts, without the numbers that count layers."""
    words = [word for part in scope[-2:] for word in re.split(r"[^A-Za-z0-9]+", part)]
    told = "_".join(word for word in words if word and not word.isdecimal())[:_LONGEST_TOLD]
    return told if told[:1].isalpha() else ""


def _operators(repeat: Repeat) -> str:
    """What a name tells where there is no scope: the first operators and the last one."""
    names = [*dict.fromkeys(node.op_type for node in repeat.occurrences[0])]
    text = "_".join([*names[:2], *names[2:][-1:]])
    return f"{''.join(c if c.isalnum() else '_' for c in text)}_{repeat.size}"


class _Body:
    """The nodes of a repeat again, over values of their own."""

    def __init__(self, repeat: Repeat, scopes: list[str]) -> None:
        self.repeat, self.scopes = repeat, scopes
        self.is_told_by_scopes = all(scopes) and len({*scopes}) == len(scopes)
        self._constants: list[ir.Node] = []
        self._known: dict[Slot, ir.Value] = {}
        self._names: set[str] = set()
        self.gives = tuple(self._read_outside())
        self._inputs: list[ir.Value] = []
        self.reads = self._formals()

    def graph(self, opsets: Mapping[str, int]) -> ir.Graph:
        """The nodes as a graph of their own."""
        made: list[ir.Node] = []
        for place, node in enumerate(self.repeat.occurrences[0]):
            sources = enumerate(self.repeat.wiring[place])
            inputs = [self._operand((place, index), source, made) for index, source in sources]
            made.append(self._copy(node, inputs, place))
        domains = {node.domain for node in made} | {""}
        return ir.Graph(
            self._inputs,
            [made[place].outputs[index] for place, index in self.gives],
            nodes=[*self._constants, *made],
            opset_imports={domain: opsets.get(domain, 1) for domain in sorted(domains)},
        )

    def _operand(self, slot: Slot, source: Slot | str, made: list[ir.Node]) -> ir.Value | None:
        if not isinstance(source, str):
            return made[source[0]].outputs[source[1]]
        return None if source == MISSING else self._known[slot]

    def _read_outside(self) -> list[Slot]:
        """Outputs that something outside reads, in any occurrence."""
        found: dict[Slot, None] = {}
        for nodes in self.repeat.occurrences:
            inside = set(nodes)
            for place, node in enumerate(nodes):
                for index, value in enumerate(node.outputs):
                    readers = (use.node for use in value.uses())
                    if value.is_graph_output() or any(one not in inside for one in readers):
                        found[place, index] = None
        return sorted(found)

    def _formals(self) -> tuple[Slot, ...]:
        """What is read from outside: what is computed first, then constants.

        Two slots are one input if all occurrences read the same at both.
        """
        slots: dict[tuple[ir.Value | None, ...], list[Slot]] = {}
        for place, sources in enumerate(self.repeat.wiring):
            for index, source in enumerate(sources):
                if isinstance(source, str) and source != MISSING:
                    read = tuple(nodes[place].inputs[index] for nodes in self.repeat.occurrences)
                    slots.setdefault(read, []).append((place, index))
        inside = [read for read in slots if _same_small(read)]
        for read in inside:
            value = self._constant(read[0])
            self._known |= dict.fromkeys(slots.pop(read), value)
        formals = sorted(slots, key=lambda read: all(constant_of(one) is not None for one in read))
        for index, read in enumerate(formals):
            value = ir.Value(name=f"x{index}")
            self._inputs.append(value)
            self._known |= dict.fromkeys(slots[read], value)
        return tuple(slots[read][0] for read in formals)

    def _constant(self, value: ir.Value | None) -> ir.Value:
        tensor = constant_of(value)
        assert tensor is not None, "only constants stand inside"
        name = f"c{len(self._constants)}"
        plain = ir.Tensor(tensor.numpy(), dtype=tensor.dtype, shape=ir.Shape(tensor.shape.numpy()))
        node = ir.Node(
            "", "Constant", [], [ir.AttrTensor("value", plain)],
            outputs=[ir.Value(name=name)], name=name,
        )  # fmt: skip
        self._constants.append(node)
        return node.outputs[0]

    def _copy(self, node: ir.Node, inputs: list[ir.Value | None], place: int) -> ir.Node:
        name = self._name(place)
        outputs = [
            ir.Value(name=f"{name}_{index}" if is_used(value) else "")
            for index, value in enumerate(node.outputs)
        ]
        for slot, index in self.gives:
            if slot == place:
                outputs[index].name = f"{name}_{index}"
        attributes = node.attributes.values()
        return ir.Node(node.domain, node.op_type, inputs, attributes, outputs=outputs, name=name)

    def _name(self, place: int) -> str:
        """What all occurrences call a node within their scopes; else its operator and a number."""
        nodes = (nodes[place] for nodes in self.repeat.occurrences)
        names = {
            (node.name or "").removeprefix(f"{scope}/")
            for node, scope in zip(nodes, self.scopes, strict=True)
        }
        name = names.pop()
        if not self.is_told_by_scopes or names or not name or name.startswith("/"):
            name = f"{self.repeat.occurrences[0][place].op_type}_{place}"
        while name in self._names:
            name = f"{name}_{place}"
        self._names.add(name)
        return name


def _same_small(read: Sequence[ir.Value | None]) -> bool:
    """Whether all occurrences read the same small constant."""
    before: ir.TensorProtocol | None = None
    for value in read:
        tensor = constant_of(value) if value is not None and stands_inside(value) else None
        if tensor is None or (before is not None and not same_content(before, tensor)):
            return False
        before = tensor
    return True
