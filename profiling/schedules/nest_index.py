"""Which node of a nest a name in the code belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import RFactor, Schedule, Split
from optimizer.schedules.nest import NestNode
from profiling.codegen.halide_naming import as_in_c, plain_name

_LOOP = re.compile(r"(\w+)\.s(\d+)\.(.+)")
_ENDINGS = (".rebased", ".$n", ".")
"""What Halide puts behind a loop's name: of one moved to begin at 0, and of a sliding window's."""
_ON_GPU = re.compile(r"\.(block|thread)_id_[xyzw]$")
"""And of one that is a dimension of a GPU's grid or blocks."""
_BLOCK = re.compile(r"(?:\d+_)?(end_for|for|produce|consume)_(.+)")
_OUTSIDE = re.compile(r"\.(preheader|lr\.ph|loopexit|split|prol\.preheader|crit_edge)[\w.]*$")
_COPY = re.compile(r"(\.(us|unr|epil|peel|prol|new|backedge|i|\d+))+$")
_ROUND = ("x", "y", "z", "w", "4", "5", "6", "7")


class NestIndex:
    """Nodes of a nest by the names that Halide gives to what they become.

    Args:
        algorithm: of which the nest is.
        schedule: whose nest it is.
        nodes: in the order of its text.
    """

    def __init__(self, algorithm: Algorithm, schedule: Schedule, nodes: Sequence[NestNode]) -> None:
        self._loops: dict[tuple[str, int, str], int] = {}
        self._produced: dict[str, int] = {}
        self._stored: dict[str, int] = {}
        self._computed: dict[str, dict[int, int]] = {}
        self._nodes = nodes
        self.parents = parents_of(nodes)
        self._rounds = _rounds(algorithm, schedule)
        self._in_c: dict[str, int | None] = {}
        for number, node in enumerate(nodes):
            func = plain_name(node.func)
            match node.kind:
                case "loop":
                    self._loops[func, node.stage, plain_name(node.loop)] = number
                case "produce":
                    self._produced[func] = number
                case "store":
                    self._stored[func] = number
                case "compute":
                    self._computed.setdefault(func, {})[node.stage] = number

    def loop(self, name: str) -> int | None:
        """The loop that Halide calls so: `blur_y.s0.y.yi`, `product.s1.k$x`."""
        match = _LOOP.fullmatch(name)
        if match is None:
            return None
        func, stage, path = match[1], int(match[2]), _ON_GPU.sub("", match[3])
        for ending in _ENDINGS:
            path = path.removesuffix(ending)
        last = path.rsplit(".", 1)[-1]
        found = self._loops.get((func, stage, self._rounds.get((func, last), last)))
        in_c = as_in_c(name)
        known = self._in_c.setdefault(in_c, found)
        if known != found:
            self._in_c[in_c] = None
        return found

    def loop_in_c(self, name: str) -> int | None:
        """The same of a name in C, of a loop that was asked for by its own name before."""
        return self._in_c.get(name)

    def produced(self, func: str) -> int | None:
        """Where a Func is produced."""
        return self._produced.get(func)

    def around(self, node: int | None) -> int | None:
        """What a node stands in."""
        return None if node is None else self.parents[node]

    def held(self, func: str) -> int | None:
        """Where its memory begins."""
        return self._stored.get(func, self._produced.get(func))

    def computed(self, func: str, inside: int | None) -> int | None:
        """What writes elements of a Func, where that is inside a node."""
        stages = self._computed.get(func, {})
        if len(stages) == 1:
            return next(iter(stages.values()))
        around = None if inside is None else self._nodes[inside]
        if around is not None and around.kind == "loop" and plain_name(around.func) == func:
            return stages.get(around.stage, inside)
        return self._produced.get(func) if stages else None

    def block(self, name: str) -> tuple[int | None, bool]:
        """What LLVM's block of this name is part of, and whether it is that for certain.

        What stands before or behind a loop may also be part of a loop that only its compiler knows.
        """
        match = _BLOCK.fullmatch(name)
        if match is not None and match[1] == "for" and (loop := self.loop(match[2])) is not None:
            return loop, True
        plain = _OUTSIDE.sub("", name)
        match = _BLOCK.fullmatch(plain)
        if match is None:
            return None, False
        kind, what = match.groups()
        if kind == "produce":
            return self._produced.get(what), True
        if kind == "consume":
            return self.around(self._produced.get(what)), False
        loop = self.loop(what)
        loop = self.loop(_COPY.sub("", what)) if loop is None else loop
        if kind == "end_for" or plain != name:
            return self.around(loop), False
        return loop, loop is not None


def parents_of(nodes: Sequence[NestNode]) -> tuple[int | None, ...]:
    """The node that each node stands in; None of the outermost."""
    found: list[int | None] = []
    path: list[int] = []
    for number, node in enumerate(nodes):
        while path and nodes[path[-1]].depth >= node.depth:
            path.pop()
        found.append(path[-1] if path else None)
        path.append(number)
    return tuple(found)


def _rounds(algorithm: Algorithm, schedule: Schedule) -> Mapping[tuple[str, str], str]:
    """Loops over reductions by the names that Halide makes of all their axes and a number."""
    found: dict[tuple[str, str], str] = {}
    for func, axes in _reductions(algorithm, schedule):
        domain = plain_name("_".join(axes))
        for axis, mark in zip(reversed(axes), _ROUND, strict=False):
            # A number behind `$` is taken for one that tells equal names apart, and is gone.
            name = domain if mark.isdecimal() else f"{domain}${mark}"
            found[plain_name(func), name] = plain_name(axis)
    return found


def _reductions(algorithm: Algorithm, schedule: Schedule) -> Iterator[tuple[str, list[str]]]:
    """Funcs that reduce, and along which axes: a part of a reduction has the outer loop alone."""
    own = {
        func.name: [axis.name for axis in func.reduction.axes]
        for func in algorithm.funcs
        if func.reduction is not None
    }
    yield from own.items()
    inner = {
        (one.func, one.inner): one
        for one in schedule.primitives
        if isinstance(one, Split) and one.nest == 1
    }
    for one in schedule.primitives:
        split = inner.get((one.func, one.loop)) if isinstance(one, RFactor) else None
        if isinstance(one, RFactor) and split is not None and one.func in own:
            others = [axis for axis in own[one.func] if axis != split.loop]
            yield one.made, [*others, split.outer]
