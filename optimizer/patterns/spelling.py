"""The spellings of a pattern, node by node: for the documentation, and as the smallest models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from optimizer.patterns.pattern import Pattern, parts
from optimizer.patterns.terms import Either, Formula, Node, Number, Term, Value

_LETTERS = "abcdefghijklmnopqrstuvw"


@dataclass(frozen=True, slots=True)
class Line:
    """One node of a spelling.

    Attributes:
        output: its name.
        operator: the one of the term's that is meant.
        node: the term.
        operands: names of other lines and of values, and numbers.
    """

    output: str
    operator: str
    node: Node
    operands: tuple[str | Number, ...]

    def __str__(self) -> str:
        operands = ", ".join(o if isinstance(o, str) else o.spoken for o in self.operands)
        settings = ", ".join(
            f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.node.settings.items()
        )
        domain = f"{self.node.domain}." if self.node.domain else ""
        return f"{self.output} = {domain}{self.operator}({operands})" + (
            f"  {settings}" if settings else ""
        )


@dataclass(slots=True)
class Spelling:
    """One way to write a pattern.

    Attributes:
        lines: producers first; the last one is the root.
        values: what it reads, by name.
    """

    lines: list[Line] = field(default_factory=list[Line])
    values: dict[str, Value] = field(default_factory=dict[str, Value])

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines))


def spellings(pattern: Pattern) -> list[Spelling]:
    """The usual spelling, and one for every choice that the pattern leaves, one at a time."""
    usual = _Writer({}).write(pattern)
    found = {str(usual): usual}
    for term in parts(pattern.root):
        if isinstance(term, Either):
            for index in range(1, len(term.alternatives)):
                other = _Writer({term: index}).write(pattern)
                found.setdefault(str(other), other)
        elif isinstance(term, Node):
            for index in range(1, len(term.operators)):
                other = _Writer({term: index}).write(pattern)
                found.setdefault(str(other), other)
    return [*found.values()]


class _Writer:
    """Writes one spelling; the first choice everywhere but where told otherwise."""

    def __init__(self, choices: Mapping[Term, int]) -> None:
        self._choices = choices
        self._names: dict[Term, str] = {}
        self._spelling = Spelling()

    def write(self, pattern: Pattern) -> Spelling:
        """The whole."""
        self._operand(pattern.root)
        return self._spelling

    def _operand(self, term: Term) -> str | Number:
        match term:
            case Value():
                self._spelling.values[term.name] = term
                return term.name
            case Number():
                return term
            case Either():
                return self._operand(term.alternatives[self._choices.get(term, 0)])
            case Formula():
                return self._operand(term.expression)
            case Node():
                return self._node(term)

    def _node(self, term: Node) -> str:
        if term not in self._names:
            operands = tuple(self._operand(each) for each in term.inputs)
            self._names[term] = _LETTERS[len(self._names) % len(_LETTERS)]
            operator = term.operators[self._choices.get(term, 0)]
            self._spelling.lines.append(Line(self._names[term], operator, term, operands))
        return self._names[term]
