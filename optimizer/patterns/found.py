"""What a search for a pattern has found: names, nodes, and what was not as it should be."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.frozen import frozen
from optimizer.rules import Declined, NewNode, Replacement
from optimizer.rules.wording import described

CONDITION = 1
"""The weight of a condition that fails: another number, another attribute, one consumer more."""

OPERATOR = 2
"""The weight of another operator, or another value, than the pattern has."""

MOST_WEIGHT = 2
"""What may be missing of a near miss: two conditions, or one operator."""

SMALL = 4
"""Of a pattern with fewer nodes there, no operator may be missing: it would be half of it."""


@frozen()
class Miss:
    """Something that is not as the pattern has it.

    Attributes:
        needs: what the pattern has, in words that are the same at every place.
        there: what is there instead.
        nodes: those it is about.
        weight: how far it is from the pattern.
    """

    needs: str
    there: str
    nodes: tuple[ir.Node, ...] = ()
    weight: int = CONDITION

    def declined(self) -> Declined:
        """The near miss as a rule states it."""
        return Declined(f"{self.needs}: {self.there}" if self.there else self.needs, self.nodes)


@dataclass(slots=True)
class Found:
    """A place where a pattern is, or nearly is.

    Attributes:
        title: of the pattern.
        values: by the names that the pattern gives them.
        numbers: constants of one element, by name.
        named: nodes by name.
        nodes: all nodes of the place, the last one of the graph first.
        misses: what is not as it should be, in the pattern's order.
        seen: terms of the pattern and their nodes.
    """

    title: str
    values: dict[str, ir.Value] = field(default_factory=dict[str, ir.Value])
    numbers: dict[str, float] = field(default_factory=dict[str, float])
    named: dict[str, ir.Node] = field(default_factory=dict[str, ir.Node])
    nodes: dict[ir.Node, None] = field(default_factory=dict[ir.Node, None])
    misses: list[Miss] = field(default_factory=list[Miss])
    seen: set[tuple[object, ir.Node]] = field(default_factory=set[tuple[object, ir.Node]])

    def copy(self) -> Found:
        """The same, to go another way from here."""
        return Found(
            self.title, {**self.values}, {**self.numbers}, {**self.named}, {**self.nodes},
            [*self.misses], {*self.seen},
        )  # fmt: skip

    def take(self, other: Found) -> None:
        """Become another one."""
        self.values, self.numbers, self.named = other.values, other.numbers, other.named
        self.nodes, self.misses, self.seen = other.nodes, other.misses, other.seen

    @property
    def root(self) -> ir.Node:
        """The last node."""
        return next(iter(self.nodes))

    @property
    def weight(self) -> int:
        """How far the place is from the pattern; 0 where it is there."""
        return sum(miss.weight for miss in self.misses)

    @property
    def is_near(self) -> bool:
        """Whether what is missing is worth a word."""
        return self.weight <= (MOST_WEIGHT if len(self.nodes) >= SMALL else CONDITION)

    @property
    def distance(self) -> tuple[int, int]:
        """Less is nearer: what is missing, then how little is there."""
        return self.weight, -len(self.nodes)

    def replaced_by(self, made: NewNode, reason: str = "") -> Replacement:
        """One new node in place of all."""
        said = reason or f"These {len(self.nodes)} nodes compute {self.title}."
        return Replacement.by(made, said, *[*self.nodes][::-1])


def spoken(value: ir.Value | None) -> str:
    """A value for people: who makes it, or what it is."""
    if value is None:
        return "nothing"
    producer = value.producer()
    if producer is not None:
        return described(producer)
    kind = "the input" if value.is_graph_input() else "the constant"
    return f"{kind} {quoted(value.name or '')}"
