"""Ways to order the nodes of a graph, and the live peak of each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import onnx_ir as ir

from optimizer.errors import PlanError, quoted
from optimizer.memory.arena import Arena, LifetimeOptions
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order.exact import exact_order
from optimizer.memory.order.problem import OrderProblem, bound
from optimizer.memory.pieces import check_known, pieces_of, walk
from optimizer.memory.program import read_program
from optimizer.memory.registry import Budget
from optimizer.memory.sizes import KnownSizes
from optimizer.numbers import counted
from optimizer.runtime.order import runtime_order, when_ready

ORDERS: Mapping[str, str] = {
    "file": "As in the file",
    "runtime": "ONNX Runtime's default",
    "list": "Smallest growth first",
    "exact": "Exact search",
}
"""Every method that orders nodes, with its title."""

_DEFAULT = LifetimeOptions()


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the nodes that run.

    Attributes:
        method: how it was found.
        nodes: ids of the nodes, in the order to run them.
        live_bytes: activations alive at every step, as in `lifetimes` with this order.
        bound_bytes: no order has a smaller peak.
        proven: no order of these nodes has a smaller peak than this one.
        states: how many sets of nodes the exact search looked at; 0 for the others.
        note: what the method has to say.
        seconds: wall clock it took.
    """

    method: str
    nodes: tuple[str, ...]
    live_bytes: tuple[int, ...] = ()
    bound_bytes: int = 0
    proven: bool = False
    states: int = 0
    note: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def peak_bytes(self) -> int:
        """The most activation bytes alive at once."""
        return max(self.live_bytes, default=0)

    @property
    def title(self) -> str:
        """How it was found, for people."""
        return ORDERS.get(self.method, self.method)


def reorder(
    graph: ir.Graph,
    method: str,
    *,
    options: LifetimeOptions = _DEFAULT,
    sizes: Mapping[str, int] | None = None,
    budget: Budget | None = None,
) -> Order:
    """Order the nodes of `graph` so that less is alive at once.

    Bodies keep their order. Everything that `options` lets share memory does so during the search:
    which results are written over their inputs depends on the order, and is counted exactly.

    Args:
        graph: with inferred shapes and ids.
        method: one of `ORDERS`.
        options: what may share memory; the peak is that of `lifetimes` with the same options.
        sizes: of free dimensions, by name.
        budget: for the exact search; one second without.

    Raises:
        PlanError: there is no such method, or sizes are unknown.
    """
    if method not in ORDERS:
        raise PlanError(f"There is no order {quoted(method)}; there are {', '.join(ORDERS)}.")
    started = time.perf_counter()
    measure = KnownSizes(graph, sizes)
    pieces = pieces_of(read_program(graph, measure), options)
    check_known(pieces, measure)
    problem = OrderProblem(pieces)
    if method == "exact":
        found = _exact(problem, budget or Budget())
    else:
        order = {"file": _file, "runtime": _runtime, "list": _list_schedule}[method](problem)
        found = _order(method, problem, order, bound(problem)[0])
    return replace(found, seconds=time.perf_counter() - started)


def ordered_arena(
    graph: ir.Graph,
    method: str,
    *,
    options: LifetimeOptions = _DEFAULT,
    sizes: Mapping[str, int] | None = None,
    budget: Budget | None = None,
) -> tuple[Arena, str]:
    """The arena of `graph` with its nodes in an order, and what the method has to say.

    Where sizes are unknown the nodes keep their order: no other can be found. Arguments are those
    of `reorder`.

    Raises:
        PlanError: there is no such method.
    """
    arena = lifetimes(graph, options, sizes=sizes)
    if method == "file" or arena.unplanned:
        return arena, ""
    order = reorder(graph, method, options=options, sizes=sizes, budget=budget)
    return lifetimes(graph, options, order=order.nodes, sizes=sizes), order.note


def _exact(problem: OrderProblem, budget: Budget) -> Order:
    known = [_file(problem), _list_schedule(problem), _runtime(problem)]
    found = exact_order(problem, known, budget)
    plain = _order("exact", problem, found.order, found.bound_bytes)
    if found.states:
        looked = f"Looked at {counted(found.states, 'set')} of nodes"
        note = f"{looked} in {counted(found.parts, 'part')}."
    else:
        note = "Known orders are as good as the bound." if plain.proven else "Not searched."
    return replace(plain, states=found.states, note=note)


def _order(method: str, problem: OrderProblem, order: Sequence[int], least: int) -> Order:
    live = tuple(moment.live_bytes for moment in walk(problem.pieces, order))
    ids = problem.pieces.program.ids()
    proven = max(live, default=0) <= least
    return Order(method, tuple(ids[index] for index in order), live, least, proven)


def _file(problem: OrderProblem) -> list[int]:
    return list(range(problem.count))


def _runtime(problem: OrderProblem) -> list[int]:
    """ONNX Runtime's order of the nodes that are no constants here.

    It leaves out what only a type is taken from (CastLike), so that its order may need mending.
    """
    program = problem.pieces.program
    step = {identity: step for step, identity in enumerate(runtime_order(program.graph))}
    ranks = [(step.get(identity, len(step)), at) for at, identity in enumerate(program.ids())]
    return when_ready(ranks, problem.before)


def _list_schedule(problem: OrderProblem) -> list[int]:
    """Run what is ready and grows the live set least; then the smaller result, then list order.

    O(n log n): what a ready operation would free changes only when it becomes a piece's last
    reader, and then it is entered once more.
    """
    return list(_Schedule(problem).run())


class _Schedule:
    def __init__(self, problem: OrderProblem) -> None:
        self._problem = problem
        self._pieces = problem.pieces
        self._waiting = [len(piece.readers) for piece in problem.pieces.pieces]
        self._missing = [len(before) for before in problem.before]
        self._done = [False] * problem.count
        self._ready: list[tuple[int, int, int]] = []  # growth, bytes made, operation

    def run(self) -> Iterator[int]:
        """The operations in the order to run them."""
        for index, count in enumerate(self._missing):
            if not count:
                self._enter(index)
        while self._ready:
            index = heappop(self._ready)[-1]
            if not self._done[index]:
                yield index
                self._finish(index)

    def _enter(self, index: int) -> None:
        known, made = self._pieces.pieces, self._problem.made_bytes[index]
        reads = (known[piece] for piece in self._pieces.reads[index] if self._waiting[piece] == 1)
        freed = sum(piece.taken for piece in reads if piece.planned)
        heappush(self._ready, (made - freed, made, index))

    def _finish(self, index: int) -> None:
        self._done[index] = True
        for piece in self._pieces.reads[index]:
            self._waiting[piece] -= 1
            if self._waiting[piece] == 1:
                readers = self._pieces.pieces[piece].readers
                last = next(reader for reader in readers if not self._done[reader])
                if not self._missing[last]:
                    self._enter(last)
        for later in self._problem.after[index]:
            self._missing[later] -= 1
            if not self._missing[later]:
                self._enter(later)
