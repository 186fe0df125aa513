"""Computing values again instead of keeping them: less memory for more arithmetic.

Greedy: at the step of the peak, something waits in memory for a late reader. Its node runs again
just before that reader, if that lowers the peak, and with it the nodes before it whose results are
gone by then. Of all such tries the one with the largest drop for its extra operations is taken.

A copy runs just before some node and makes its results once more. Whoever reads from there on reads
the latest ones. Copies before one node run in the order of what they are copies of, so that a set
of copies says everything. The pass `recompute-values` writes them into a graph.

Source: Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost (the idea, for training);
the greedy choice for inference is ours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.cost.node import node_cost, node_costs
from optimizer.cost.sizes import Sizes
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.lifetimes import positions
from optimizer.memory.pieces import Pieces, check_known, pieces_of, walk
from optimizer.memory.program import NOTHING, Operation, Program, Tensor, read_program
from optimizer.memory.sizes import KnownSizes
from optimizer.model.graph import bodies
from optimizer.operators.catalogue import is_random

Copy = tuple[str, str]
"""Ids of a node, and of the node just before which it runs again."""

Pair = tuple[int, int]
"""The same by position in the program."""

LONGEST_CHAIN = 3
"""Nodes in a row that run again for one reader, views not counted."""

MOST_WORK = 2_000_000
"""Operations that all tries may look at together, some ten seconds; the same on every machine."""

_TRIES = 12
_DEFAULT = LifetimeOptions()


@dataclass(frozen=True, slots=True)
class Rematerialized:
    """A point of the curve.

    Attributes:
        extra_flops: operations on top.
        part: the same as a part of all operations; 0.1 is ten percent more.
        peak_bytes: the most activation bytes alive at once.
        copies: what runs again, before what.
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
) -> tuple[Rematerialized, ...]:
    """The peak for ever more arithmetic; the first point is the graph as it is.

    Args:
        graph: with inferred shapes and ids.
        order: ids of the nodes that run; list order without. The copies are for a model with this
            list order, see `apply_order`.
        options: what may share memory.
        sizes: of free dimensions, by name.
        most_extra: the end of the curve, as a part of all operations.

    Raises:
        PlanError: sizes are unknown, or `order` is not one of the graph.
    """
    measure = KnownSizes(graph, sizes)
    program = read_program(graph, measure)
    check_known(pieces_of(program, options), measure)
    costs = node_costs(graph, Sizes.of(graph, sizes))
    total = max(1, sum(cost.flops for cost in costs.values()))
    search = _Search(program, positions(program, order), options, Sizes(sizes))
    return tuple(search.curve(total, most_extra))


def may_repeat(node: ir.Node) -> bool:
    """Whether a second run gives the same: nothing is drawn at random, and no body runs."""
    whole = all(value.name for value in node.outputs) and not node.overload
    return whole and not is_random(node) and not any(True for _ in bodies(node))


@dataclass(slots=True)
class ProgramWithCopies:
    """A program with copies.

    Attributes:
        program: its operations in the order to run them.
        origin: for each operation which one of the first program it is or repeats.
        before: for each operation the one of the first program it is or runs before.
    """

    program: Program
    origin: list[int]
    before: list[int]


def expanded(program: Program, order: Sequence[int], copies: Collection[Pair]) -> ProgramWithCopies:
    """The program with its operations in this order, and copies between them."""
    made = Program(program.graph, tensors=list(program.tensors))
    found = ProgramWithCopies(made, [], [])
    latest = list(range(len(program.tensors)))
    for index, before, again in _sequence(order, copies):
        operation = program.operations[index]
        makes = operation.makes
        reads = tuple(dict.fromkeys([latest[tensor] for tensor in operation.reads]))
        looks_at = NOTHING if operation.looks_at == NOTHING else latest[operation.looks_at]
        over = tuple(latest[tensor] for tensor in operation.writes_over)
        if again:
            for tensor in operation.makes:
                source = program.tensors[tensor]
                latest[tensor] = len(made.tensors)
                made.tensors.append(Tensor(source.value, source.size_bytes, "made"))
            makes = tuple(latest[tensor] for tensor in operation.makes)
        one = Operation(operation.id, operation.node, reads, makes, looks_at, over)
        made.operations.append(one)
        found.origin.append(index)
        found.before.append(before)
    return found


def _sequence(order: Sequence[int], copies: Collection[Pair]) -> Iterator[tuple[int, int, bool]]:
    """What runs, before what, and whether it is a copy."""
    step = {index: step for step, index in enumerate(order)}
    waiting: dict[int, list[int]] = {}
    for index, before in copies:
        waiting.setdefault(before, []).append(index)
    for index in order:
        for again in sorted(waiting.get(index, ()), key=step.__getitem__):
            yield again, index, True
        yield index, index, False


@dataclass(slots=True)
class _State:
    """What is copied, and what memory does then.

    Attributes:
        peak: the most that is alive at once.
        wide: at how many steps.
    """

    copies: frozenset[Pair]
    flops: int
    expanded: ProgramWithCopies
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
        self._work = 0

    def curve(self, total: int, most_extra: float) -> Iterator[Rematerialized]:
        """A point wherever the peak falls."""
        state: _State | None = self._state(frozenset())
        last = None
        while state is not None:
            if last is None or state.peak < last:
                last = state.peak
                yield self._point(state, total)
            state = self._better(state, int(total * most_extra))

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
        self._work += len(steps)
        return _State(copies, flops, made, pieces, live, peak, live.count(peak))

    def _better(self, state: _State, most_flops: int) -> _State | None:
        """The try that lowers the peak most for its operations, or at least makes it rarer."""
        best: tuple[float, float, _State] | None = None
        for copies in self._candidates(state, most_flops - state.flops)[:_TRIES]:
            if self._work > MOST_WORK:
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
            stays = not piece.planned or max(piece.readers) >= reader
            if not stays and self._maker.get(tensor) not in chain:
                yield tensor


def _flops(node: ir.Node, sizes: Sizes) -> int | None:
    cost = node_cost(node, sizes)
    return None if cost is None else cost.flops
