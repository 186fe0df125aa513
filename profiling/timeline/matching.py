"""Which nodes of a file an operator of the runtime computes.

The runtime fuses, renames and inserts operators. What tells where one came from: its own name, the
names it makes from those of nodes and values (`<value>_nchwc`, `<node>/LayerNormFusion/`), and, in
the graph that it ran, the values between its inputs and its outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_COUNTED = re.compile(r"_token_\d+$")
_OF_VALUE = (re.compile(r"^(.*)_nchwc$"), re.compile(r"^InsertedPrecisionFreeCast_(.*)$"))
_OF_NODE = (re.compile(r"^(.+?)/[A-Za-z]*Fus[A-Za-z]*/?$"), re.compile(r"^fused (.+)$"))


@dataclass(frozen=True, slots=True)
class RunNode:
    """A node, of the file or of the graph that ran; values by name."""

    name: str
    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


Sources = dict[str, tuple[str, ...]]
"""Operator that ran -> names of the file's nodes."""


def match_operators(file: Sequence[RunNode], ran: Sequence[RunNode]) -> Sources:
    """For every operator that ran the nodes of the file that it computes; empty where unknown.

    Args:
        file: its nodes, names unique.
        ran: the runtime's graph in the order of its nodes; operators without values, where only
            names are known.
    """
    return _Matching(file, ran).result()


class _Matching:
    def __init__(self, file: Sequence[RunNode], ran: Sequence[RunNode]) -> None:
        self._ran = ran
        self._file = {node.name: node for node in file}
        self._maker = {value: node.name for node in file for value in node.outputs if value}
        self._alive = {value for operator in ran for value in operator.outputs}
        self._names = {operator.name: self._by_name(operator.name) for operator in ran}
        self._taken = {node: name for name, node in self._names.items() if node}

    def result(self) -> Sources:
        found: Sources = {}
        for operator in self._ran:
            found[operator.name] = self._exclusive_producers(operator)
        makers = {value: operator.name for operator in self._ran for value in operator.outputs}
        pairs = [(makers[v], o.name) for o in self._ran for v in o.inputs if v in makers]
        self._inserted(found, _grouped(pairs))
        self._inserted(found, _grouped((reader, maker) for maker, reader in pairs))
        return found

    def _by_name(self, name: str) -> str:
        """The node that an operator's name speaks of, or empty."""
        name = name if name in self._file else _COUNTED.sub("", name)
        if name in self._file:
            return name
        for pattern in _OF_VALUE:
            if (said := pattern.match(name)) is not None:
                return self._maker.get(said[1], said[1] if said[1] in self._file else "")
        for pattern in _OF_NODE:
            if (said := pattern.match(name)) is not None and said[1] in self._file:
                return said[1]
        return ""

    def _exclusive_producers(self, operator: RunNode) -> tuple[str, ...]:
        """The nodes between the operator's values that nobody else computes, its own first."""
        own = self._names[operator.name]
        pending = [own] if own else []
        pending += [self._maker[value] for value in operator.outputs if value in self._maker]
        inputs = frozenset(operator.inputs)
        found: dict[str, None] = {}
        owned: dict[str, None] = {}
        while pending:
            node = pending.pop(0)
            if node in found:
                continue
            if self._taken.get(node, operator.name) != operator.name:
                owned[node] = None  # a copy or another layout of what someone else computes
                continue
            self._taken[node] = operator.name
            found[node] = None
            pending += [
                self._maker[value]
                for value in self._file[node].inputs
                if value in self._maker and value not in inputs and value not in self._alive
            ]
        return tuple(found or list(owned)[:1])

    def _inserted(self, found: Sources, beside: Mapping[str, Sequence[str]]) -> None:
        """Operators that the runtime put in belong to what they were put in for."""
        for operator in reversed(self._ran):
            if not found[operator.name]:
                around = (found[name] for name in beside.get(operator.name, ()))
                found[operator.name] = next((nodes[:1] for nodes in around if nodes), ())


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
