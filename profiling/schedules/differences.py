"""Two schedules' code at one level, line beside line.

A line is the same as another one when they differ in nothing but what a compiler numbers anew each
time: registers of one width, labels, places in a stack frame, names of intermediate values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import Literal

from optimizer.codec import Format
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from profiling.codegen.kernel import CpuLevel
from profiling.schedules.functions import CODE_VIEWS, CodeView
from profiling.schedules.linked import CodeLine, LinkedCode, linked_code

Change = Literal["same", "changed", "removed", "added"]
MOST_COMPARED = 4_000_000
"""Pairs of equal lines: with more, whole parts count as replaced."""

_Rules = tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]
_PLAIN: dict[CodeView, _Rules] = {
    "asm": (
        (re.compile(r"\s*#.*"), ""),
        (re.compile(r"%(?:r(?!sp|bp|ip)\w+|[er]?[abcd][xlh]|[er]?[sd]i\b)"), "%r"),
        (re.compile(r"%([xyz]mm|k)\d+"), r"%\1"),
        (re.compile(r"%e\w+"), "%r"),
        (re.compile(r"\.?L?(?:BB|CPI)\d+_\d+"), ".L"),
        (re.compile(r"-?\d*\(%r([sb])p\)"), r"(%r\1p)"),
    ),
    "llvm": (
        (re.compile(r"\s*;.*"), ""),
        (re.compile(r", ![\w.]+ !\d+|, align \d+"), ""),
        (re.compile(r'"\d+_'), '"'),
        (re.compile(r"%[\w.]+"), lambda match: re.sub(r"\d", "", match[0])),
        (re.compile(r" #\d+"), ""),
    ),
    "c": ((re.compile(r"\b_\d+\b"), "_"), (re.compile(r"\bs\d+\b"), "s")),
    "stmt": ((re.compile(r"\bt\d+(?:\.s)?\b"), "t"),),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of either, or one of each.

    Attributes:
        change: `same` but for what is numbered anew; `changed` where one stands for the other.
        before: its number among the lines before; -1 where there is none.
        after: the same behind.
    """

    change: Change
    before: int
    after: int


def plain_line(text: str, view: CodeView) -> str:
    """A line without what a compiler numbers anew each time."""
    for pattern, kept in _PLAIN[view]:
        text = pattern.sub(kept, text)
    return re.sub(r"\s+", " ", text).strip()


def difference(before: Sequence[str], after: Sequence[str], view: CodeView) -> tuple[DiffRow, ...]:
    """Lines of one code beside those of another; each line stands once, in its order."""
    one, other = ([plain_line(line, view) for line in lines] for lines in (before, after))
    return tuple(_rows(one, other))


def _rows(one: Sequence[str], other: Sequence[str]) -> Iterator[DiffRow]:
    start = _shared(one, other)
    end = _shared(one[start:][::-1], other[start:][::-1])
    yield from (DiffRow("same", n, n) for n in range(start))
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    for kind, low, high, first, last in _steps(left, right):
        yield from _step(kind, range(low + start, high + start), range(first + start, last + start))
    for n in range(end, 0, -1):
        yield DiffRow("same", len(one) - n, len(other) - n)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _steps(one: Sequence[str], other: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    counts: dict[str, int] = {}
    for line in other:
        counts[line] = counts.get(line, 0) + 1
    if sum(counts.get(line, 0) for line in one) > MOST_COMPARED:
        return [("replace", 0, len(one), 0, len(other))]
    return list(SequenceMatcher(None, one, other, autojunk=False).get_opcodes())


def _step(kind: str, before: range, after: range) -> Iterator[DiffRow]:
    for a, b in zip_longest(before, after, fillvalue=-1):
        if kind == "equal":
            yield DiffRow("same", a, b)
        elif a < 0:
            yield DiffRow("added", a, b)
        else:
            yield DiffRow("removed" if b < 0 else "changed", a, b)


@dataclass(frozen=True, slots=True)
class LevelDifference:
    """One level of two schedules.

    Attributes:
        id: of the level.
        title: for people.
        before: lines, as they are linked.
        after: the same.
        rows: pairs of them.
        left_out: lines of either that were not compared.
    """

    id: str
    title: str
    before: tuple[CodeLine, ...]
    after: tuple[CodeLine, ...]
    rows: tuple[DiffRow, ...]
    left_out: int

    @property
    def changed(self) -> int:
        """How many rows are not the same."""
        return sum(row.change != "same" for row in self.rows)


@dataclass(frozen=True, slots=True)
class CodeDifference:
    """Two schedules of one algorithm, level by level."""

    before: LinkedCode
    after: LinkedCode
    levels: tuple[LevelDifference, ...]


CODE_DIFFERENCE = Format(CodeDifference, "passlens.code-difference/1", "difference of code")


def code_difference(
    before: LinkedCode, after: LinkedCode, views: Sequence[CodeView]
) -> CodeDifference:
    """Both codes and what is different at these levels."""
    return CodeDifference(before, after, tuple(_level(before, after, view) for view in views))


def compared_code(
    title: str,
    algorithm: Algorithm,
    schedules: tuple[Schedule, Schedule],
    processor: CpuLevel,
) -> CodeDifference:
    """Compile two schedules, and what is different at all levels. Only in a worker.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied, or the code would be too long.
    """
    before, after = (linked_code(title, algorithm, one, processor) for one in schedules)
    return code_difference(before, after, CODE_VIEWS)


def _level(before: LinkedCode, after: LinkedCode, view: CodeView) -> LevelDifference:
    one, other = before.level(view), after.level(view)
    rows = difference([line.text for line in one.lines], [line.text for line in other.lines], view)
    left_out = one.left_out + other.left_out
    return LevelDifference(view, one.title, one.lines, other.lines, rows, left_out)


def unified(found: LevelDifference, context: int = 3) -> Iterator[str]:
    """The difference as text: `-` before, `+` after, and the lines around."""
    shown = {
        n
        for at, row in enumerate(found.rows)
        if row.change != "same"
        for n in range(at - context, at + context + 1)
    }
    for kept, rows in groupby(enumerate(found.rows), lambda pair: pair[0] in shown):
        if kept:
            yield from _hunks(found, [row for _, row in rows])
        else:
            yield "…"


def _hunks(found: LevelDifference, rows: Sequence[DiffRow]) -> Iterator[str]:
    for same, part in groupby(rows, lambda row: row.change == "same"):
        lines = list(part)
        if same:
            yield from (f"  {found.after[row.after].text}" for row in lines)
            continue
        yield from (f"- {found.before[row.before].text}" for row in lines if row.before >= 0)
        yield from (f"+ {found.after[row.after].text}" for row in lines if row.after >= 0)
