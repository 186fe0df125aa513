"""Nodes of a nest for the lines of Halide's statements and of its C++: both are nested blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from profiling.schedules.functions import Function
from profiling.schedules.nest_index import NestIndex

Nodes = list[int | None]

_FOR = re.compile(r"(?:for|parallel|vectorized|unrolled|gpu_block|gpu_thread)[\w<>]* ?\(([^,\s]+),")
_PRODUCE, _CONSUME = (
    re.compile(r"(?://\s*)?produce ([\w$]+)"),
    re.compile(r"(?://\s*)?consume ([\w$]+)"),
)
_MEMORY = re.compile(r"(?:allocate|free) (\w+)")
_WRITE = re.compile(r"(\w+)(?:\.\d+)?\[")
_TASK = re.compile(r"(?:\w+ )?func (\w+) ?\(__user_context, ([^,]+), closure")
_C_FOR = re.compile(r"for \(int (\w+) =")
_C_WRITE = re.compile(r"(?:\(\(\w+ \*\)_(\w+)\)|_(\w+))\[[^\]]+\] = |.*::store\w*\([^,]+, _(\w+),")
_C_MEMORY = re.compile(r".*\b_(\w+?)(?:_free\b|\[\d+\];| = \(.*halide_malloc)")


def tasks_of(functions: Sequence[Function], index: NestIndex) -> Mapping[str, int | None]:
    """By the names of functions that are a parallel loop's rounds: that loop."""
    found: dict[str, int | None] = {}
    for function in functions:
        match = _TASK.match(function.lines[0])
        if match is not None:
            found[function.name] = index.loop(match[2])
    return found


def statement_nodes(function: Function, index: NestIndex, task: int | None) -> Nodes:
    """The node of each line of Halide's statements; None where they say none.

    Args:
        function: of a file.
        index: of its nest.
        task: the loop whose rounds it is.
    """
    found: Nodes = []
    stack: Nodes = [task]
    for line in function.lines:
        text = line.strip()
        if text.startswith("}") and len(stack) > 1:
            stack.pop()
        node = _statement(text, index, stack[-1])
        found.append(node)
        if text.endswith("{") and len(found) > 1:
            stack.append(node)
    return found


def _statement(text: str, index: NestIndex, inside: int | None) -> int | None:
    if match := _FOR.match(text):
        return _or(index.loop(match[1]), inside)
    if match := _PRODUCE.match(text):
        return _or(index.produced(match[1]), inside)
    if match := _CONSUME.match(text):
        return _or(index.around(index.produced(match[1])), inside)
    if match := _MEMORY.match(text):
        return _or(index.held(match[1]), inside)
    if match := _WRITE.match(text):
        return _or(index.computed(match[1], inside), inside)
    return inside


def c_nodes(function: Function, index: NestIndex, task: int | None) -> Nodes:
    """The same for C++, whose loops have the names of the statements', which come first."""
    found: Nodes = []
    stack: Nodes = [task]
    ahead: int | None = None
    for line in function.lines:
        text = line.strip()
        if text.startswith("}"):
            found.append(stack[-1])
            if len(stack) > 1:
                stack.pop()
        elif text == "{":
            stack.append(stack[-1] if ahead is None else ahead)
            found.append(stack[-1])
        else:
            found.append(_c_line(text, index, stack))
            stack += [stack[-1]] if text.endswith("{") and len(found) > 1 else []
        ahead = found[-1] if _C_FOR.match(text) else None
    return found


def _c_line(text: str, index: NestIndex, stack: Nodes) -> int | None:
    inside = stack[-1]
    if match := _C_FOR.match(text):
        return _or(index.loop_in_c(match[1]), inside)
    if match := _PRODUCE.match(text):
        stack[-1] = _or(index.produced(match[1]), inside)
        return stack[-1]
    if match := _CONSUME.match(text):
        stack[-1] = _or(index.around(index.produced(match[1])), inside)
        return stack[-1]
    if match := _C_WRITE.match(text):
        return _or(index.computed(next(filter(None, match.groups())), inside), inside)
    if match := _C_MEMORY.match(text):
        return _or(index.held(match[1]), inside)
    return inside


def _or(found: int | None, inside: int | None) -> int | None:
    """What is named, or what it stands in: Halide makes loops that no nest has."""
    return inside if found is None else found


def flattened(parts: Sequence[Nodes]) -> Iterator[int | None]:
    """Nodes of the lines of several functions, with an empty line behind each."""
    for one in parts:
        yield from one
        yield None
