"""The text of a schedule as calls on Funcs, one after another.

Declarations of variables and Funcs are passed over: what they name has these names already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from optimizer.errors import StudioError, quoted

MOST_CHARACTERS = 1 << 20
"""Of a text: whole networks are a few thousand lines."""

_TOKEN = re.compile(r'\s+|//[^\n]*|"[^"\n]*"|[A-Za-z_$][\w$]*(?:::\w+)*|-?\d+|[{}()\[\].,;=*&<>]')
_DECLARATIONS = frozenset({"Var", "RVar", "Func", "auto", "using"})


class NotImported(StudioError):
    """A text that is no schedule, or asks for what no primitive does."""


@dataclass(frozen=True, slots=True)
class Directive:
    """One call.

    Attributes:
        func: as the text calls it.
        nest: 0, or 1 of what combines.
        reader: whose copy of the Func is meant; empty where it is the Func.
        name: of the call.
        arguments: names and numbers; what stood in braces is spread.
    """

    func: str
    nest: int
    reader: str
    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        copy = f".in({self.reader})" if self.reader else ""
        return f"{self.func}{copy}.{self.name}({', '.join(self.arguments)})"


def directives_of(text: str) -> Iterator[Directive]:
    """The calls of a text.

    Raises:
        NotImported: it is too long, or is not written as schedules are.
    """
    if len(text) > MOST_CHARACTERS:
        raise NotImported(f"A schedule of {len(text)} characters is too long to be imported.")
    statement: list[str] = []
    depth = 0
    for word in _tokens(text):
        depth += (word == "(") - (word == ")")
        if word == ";" or (word in "{}" and depth <= 0):
            yield from _calls(statement)
            statement, depth = [], 0
        else:
            statement.append(word)
    yield from _calls(statement)


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise NotImported(
                f"This is no schedule: {quoted(text[at : at + 40])} was not expected."
            )
        if not found[0].isspace() and not found[0].startswith("//"):
            yield found[0]
        at = found.end()


def _calls(tokens: list[str]) -> Iterator[Directive]:
    if not tokens or tokens[0] in _DECLARATIONS:
        return
    func, nest, reader, at = tokens[0], 0, "", 1
    if at == len(tokens):
        raise _unexpected(tokens)
    while at < len(tokens):
        if tokens[at] != "." or tokens[at + 2 : at + 3] != ["("]:
            raise _unexpected(tokens[at:])
        end = _closing(tokens, at + 2)
        name, arguments = tokens[at + 1], _arguments(tokens[at + 3 : end])
        if name == "update":
            if arguments not in ((), ("0",)):
                raise NotImported(f"{func} has one update here, and the schedule asks for more.")
            nest = 1
        elif name in ("in", "in_") and len(arguments) == 1:
            reader = arguments[0]
        else:
            yield Directive(func, nest, reader, name, arguments)
        at = end + 1


def _closing(tokens: list[str], opening: int) -> int:
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at] == "(") - (tokens[at] == ")")
        if depth == 0:
            return at
    raise _unexpected(tokens[opening:])


def _arguments(tokens: list[str]) -> tuple[str, ...]:
    return tuple(token for token in tokens if token not in {",", "{", "}"})


def _unexpected(tokens: list[str]) -> NotImported:
    return NotImported(f"This is no schedule: {quoted(' '.join(tokens[:8]))} was not expected.")
