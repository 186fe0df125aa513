"""Computing values again instead of keeping them: less memory for more arithmetic.

Greedy: at the step of the peak, something waits in memory for a late reader. Its node runs again
just before that reader, if that lowers the peak, and with it the nodes before it whose results are
gone by then. Of all such tries the one with the largest drop for its extra operations is taken.

Source: Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost (the idea, for training);
the greedy choice for inference is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.cost.graph import graph_cost
from optimizer.cost.node import node_cost
from optimizer.cost.sizes import Sizes
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.copies import Copy, Expanded, Pair, expanded, may_repeat, with_copies
from optimizer.memory.lifetimes import positions
from optimizer.memory.pieces import Pieces, check_known, pieces_of, walk
from optimizer.memory.program import NOTHING, Program, read_program
from optimizer.memory.registry import Budget
from optimizer.memory.sizes import KnownSizes

__all__ = ["Copy", "Rematerialized", "rematerialize", "with_copies"]

LONGEST_CHAIN = 3
"""Nodes in a row that run again for one reader, views not counted."""

_TRIES = 12
_DEFAULT = LifetimeOptions()


@dataclass(frozen=True, slots=True)
class Rematerialized:
    """A point of the curve.

    Attributes:
        extra_flops: operations on top.
        part: the same as a part of all operations; 0.1 is ten percent more.
        peak_bytes: the most activation bytes alive at once.
        copies: what runs again, see `with_copies`.
    """

    extra_flops: int
    part: float
    peak_bytes: int
    copies: tuple[Copy, ...]


def rematerialize(
    graph: ir.Graph,
    order: Sequence[str] | None = None,
    *,
    options: LifetimeOptions = _DEFAULT,
    sizes: Mapping[str, int] | None = None,
    most_extra: float = 1.0,
    budget: Budget | None = None,
) -> tuple[Rematerialized, ...]:
    """The peak for ever more arithmetic; the first point is the graph as it is.

    Args:
        graph: with inferred shapes and ids.
        order: ids of the nodes that run; list order without. The copies are for a model with this
            list order, see `apply_order`.
        options: what may share memory.
        sizes: of free dimensions, by name.
        most_extra: the end of the curve, as a part of all operations.
        budget: wall clock for the whole curve; one second without.

    Raises:
        PlanError: sizes are unknown, or `order` is not one of the graph.
    """
    measure = KnownSizes(graph, sizes)
    program = read_program(graph, measure)
    check_known(pieces_of(program, options), measure)
    total = max(1, graph_cost(graph, sizes).flops)
    search = _Search(program, positions(program, order), options, Sizes(sizes))
    return tuple(search.curve(total, most_extra, budget or Budget()))


@dataclass(slots=True)
class _State:
    """What is copied, and what memory does then.

    Attributes:
        peak: the most that is alive at once.
        wide: at how many steps.
    """

    copies: frozenset[Pair]
    flops: int
    expanded: Expanded
    pieces: Pieces
    live: list[int]
    peak: int
    wide: int


class _Search:
    def __init__(
        self, program: Program, order: list[int], options: LifetimeOptions, sizes: Sizes
    ) -> None:
        self._program = program
        self._order = order
        self._options = options
        self._flops = [_flops(operation.node, sizes) for operation in program.operations]

    def curve(self, total: int, most_extra: float, budget: Budget) -> Iterator[Rematerialized]:
        """A point wherever the peak falls."""
        state: _State | None = self._state(frozenset())
        last = None
        while state is not None:
            if last is None or state.peak < last:
                last = state.peak
                yield self._point(state, total)
            state = self._better(state, int(total * most_extra), budget)

    def _point(self, state: _State, total: int) -> Rematerialized:
        ids = self._program.ids()
        copies = tuple((ids[index], ids[before]) for index, before in sorted(state.copies))
        return Rematerialized(state.flops, state.flops / total, state.peak, copies)

    def _state(self, copies: frozenset[Pair]) -> _State:
        made = expanded(self._program, self._order, copies)
        pieces = pieces_of(made.program, self._options)
        steps = range(len(made.program.operations))
        live = [moment.live_bytes for moment in walk(pieces, steps)]
        peak = max(live, default=0)
        flops = self._extra(copies) or 0
        return _State(copies, flops, made, pieces, live, peak, live.count(peak))

    def _better(self, state: _State, most_flops: int, budget: Budget) -> _State | None:
        """The try that lowers the peak most for its operations, or at least makes it rarer."""
        best: tuple[float, float, _State] | None = None
        for copies in self._candidates(state, most_flops - state.flops)[:_TRIES]:
            if budget.spent:
                return None
            found = self._state(state.copies | copies)
            drop = state.peak - found.peak
            rarer = state.wide - found.wide if not drop else 0
            if drop > 0 or (not drop and rarer > 0):
                extra = found.flops - state.flops + 1
                gain = (drop / extra, rarer / extra)
                if best is None or gain > best[:2]:
                    best = (*gain, found)
        return None if best is None else best[2]

    def _candidates(self, state: _State, most_flops: int) -> list[frozenset[Pair]]:
        """Sets of copies that free something at the peak, the most promising first."""
        peak = state.live.index(state.peak) if state.live else 0
        chains = _Chains(state)
        found: dict[frozenset[Pair], float] = {}
        for index, piece in enumerate(state.pieces.pieces):
            late = next((step for step in piece.readers if step > peak), None)
            waits = piece.taken and NOTHING < piece.maker < peak and peak not in piece.readers
            if late is None or not waits:
                continue
            for copies in chains.of(index, late):
                extra = self._extra(copies)
                if extra is not None and extra <= most_flops:
                    found.setdefault(copies, piece.taken / (extra + 1))
        return sorted(found, key=lambda copies: -found[copies])

    def _extra(self, copies: frozenset[Pair]) -> int | None:
        """The operations on top; None where they are unknown, or a node may not run again."""
        total = 0
        for index, _ in copies:
            flops = self._flops[index]
            if flops is None or not may_repeat(self._program.operations[index].node):
                return None
            total += flops
        return total


class _Chains:
    """Sets of copies that make a piece anew just before one of its readers."""

    def __init__(self, state: _State) -> None:
        self._state = state
        self._operations = state.expanded.program.operations
        self._maker = {t: step for step, one in enumerate(self._operations) for t in one.makes}
        self._piece = {
            tensor: index
            for index, piece in enumerate(state.pieces.pieces)
            for tensor in piece.tensors
        }

    def of(self, piece: int, reader: int) -> Iterator[frozenset[Pair]]:
        """Ever longer chains: what made the piece, then also what made that from, …."""
        wanted = [t for t in self._operations[reader].reads if self._piece[t] == piece]
        chain: set[int] = set()
        for _ in range(LONGEST_CHAIN):
            chain |= self._within(wanted)
            expanded_, before = self._state.expanded, self._state.expanded.before[reader]
            copies = frozenset((expanded_.origin[step], before) for step in chain)
            yield copies - self._state.copies
            wanted = [t for step in chain for t in self._gone(step, chain, reader)]
            if not wanted or not all(tensor in self._maker for tensor in wanted):
                return

    def _within(self, tensors: Sequence[int]) -> set[int]:
        """The makers of tensors, and of what they are views of."""
        found: set[int] = set()
        for tensor in tensors:
            while tensor != NOTHING and tensor in self._maker:
                step = self._maker[tensor]
                found.add(step)
                source = self._operations[step].looks_at
                is_view = source != NOTHING and self._piece[source] == self._piece[tensor]
                tensor = source if is_view else NOTHING
        return found

    def _gone(self, step: int, chain: set[int], reader: int) -> Iterator[int]:
        """What a copy reads that is not there any more where it runs, nor made by the chain."""
        for tensor in self._operations[step].reads:
            piece = self._state.pieces.pieces[self._piece[tensor]]
            kept = not piece.planned or max(piece.readers) >= reader
            if not kept and self._maker.get(tensor) not in chain:
                yield tensor


def _flops(node: ir.Node, sizes: Sizes) -> int | None:
    cost = node_cost(node, sizes)
    return None if cost is None else cost.flops
