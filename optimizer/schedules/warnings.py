"""What in a nest costs time and need not: each with its loop and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from optimizer.loops.tasks import ENOUGH
from optimizer.numbers import bytes_text, counted, three_digits, times_text
from optimizer.schedules.locality import Locality
from optimizer.schedules.meters import LEVELS
from optimizer.schedules.nest import Nest
from optimizer.schedules.ordering import StageLoops
from optimizer.schedules.placing import LoopKey
from optimizer.schedules.strides import Access, reads_of, write_of

VECTOR_BYTES = 64
"""Of one instruction of AVX-512."""
_SHARE = 0.05
"""Of all operations: what does less is not worth a word."""
_TINY_TASK = 10_000
"""Operations: fewer take no longer than handing them to a thread."""
_PARALLEL_FROM = 1_000_000
"""Operations of a nest that gains from threads."""
_RECOMPUTED = 2.0


@dataclass(frozen=True, slots=True)
class NestWarning:
    """One of them.

    Attributes:
        func: whose loops.
        loop: empty where no single one is meant.
        text: what is the matter, one clause.
        advice: what to do.
    """

    func: str
    loop: str
    text: str
    advice: str


def warnings_of(
    nest: Nest, locality: Locality | None = None, vector_bytes: int = VECTOR_BYTES
) -> tuple[NestWarning, ...]:
    """All of a nest, by Func in the order of its loops.

    Args:
        nest: any.
        locality: of it, where it is known already.
        vector_bytes: of one instruction.
    """
    found = _Warnings(nest, locality or Locality.of(nest.regions), vector_bytes)
    return tuple(found.all())


class _Warnings:
    def __init__(self, nest: Nest, locality: Locality, vector_bytes: int) -> None:
        self._regions, self._placed = nest.regions, nest.regions.placed
        self._locality, self._work = locality, locality.work
        self._vector_bytes, self._nodes = vector_bytes, nest.nodes
        self._done = max(self._work.done(), 1.0)

    def all(self) -> Iterator[NestWarning]:
        for name in self._placed.compute:
            yield from self._kept(name)
        for one in self._placed.stages():
            yield from self._parallel(one)
            if self._operations(one) >= _SHARE * self._done:
                yield from self._vectors(one)
                yield from self._tails(one)
                yield from self._chain(one)
        yield from self._recomputed()
        yield from self._serial()

    def _operations(self, one: StageLoops) -> float:
        key = one.stage.func, one.stage.number
        return self._work.executions[key] * max(self._work.operations(one.stage), 1)

    def _extent(self, one: StageLoops, loop: str) -> int:
        key = LoopKey(one.stage.func, one.stage.number, loop)
        return self._regions.usual(self._regions.extent(key), self._placed.compute[key.func])

    def _lanes(self, one: StageLoops) -> int:
        return self._vector_bytes // self._placed.program.by_name[one.stage.func].element_bytes

    def _kept(self, name: str) -> Iterator[NestWarning]:
        """Memory between Funcs that no near cache holds."""
        if name in self._placed.program.outputs:
            return
        held = self._locality.working_set(name)
        passed = [level for level, size in LEVELS if held >= size]
        if len(passed) < 2:
            return
        through = "memory" if len(passed) == len(LEVELS) else LEVELS[len(passed)][0]
        yield NestWarning(
            name, "",
            f"{bytes_text(held)} between {name} and whoever reads it: more than {passed[-1]} "
            f"holds, so all of it passes {through}",
            f"compute {name} at a loop of its reader, or store less of it",
        )  # fmt: skip

    def _parallel(self, one: StageLoops) -> Iterator[NestWarning]:
        path = self._placed.path(one.stage)
        depth = len(self._placed.compute[one.stage.func])
        for at, key in enumerate(path[depth:], depth):
            if one.runs[key.name] != "parallel":
                continue
            extent = self._extent(one, key.name)
            if extent < ENOUGH:
                yield NestWarning(
                    key.func, key.name,
                    f"parallel loop {key.name} has {counted(extent, 'round')}: threads are left "
                    "without work, or with unequal shares",
                    "split it into more rounds, or fuse it with the loop inside",
                )  # fmt: skip
            task = self._work.done(path[: at + 1])
            if task < _TINY_TASK:
                yield NestWarning(
                    key.func, key.name,
                    f"a round of parallel loop {key.name} is {three_digits(task)} operations: "
                    "handing it to a thread takes as long",
                    "run a loop further out in parallel, or several rounds as one task",
                )  # fmt: skip
            around = self._work.rounds(path[:at])
            if around > 1:
                yield NestWarning(
                    key.func, key.name,
                    f"parallel loop {key.name} begins {three_digits(around)} times, and threads "
                    "wait for each other after each",
                    "run the outermost loop in parallel",
                )  # fmt: skip

    def _vectors(self, one: StageLoops) -> Iterator[NestWarning]:
        lanes = [loop for loop in one.loops if one.runs[loop] == "vector"]
        accesses = [*reads_of(self._regions, one), write_of(self._regions, one)]
        if not lanes:
            yield from self._not_vectorized(one, accesses)
            return
        lane, full, func = lanes[-1], self._lanes(one), one.stage.func
        extent = self._extent(one, lane)
        if extent % full and extent != full // 2:
            yield NestWarning(
                func, lane,
                f"vector {lane} has {counted(extent, 'lane')} of {-(-extent // full) * full}",
                f"split by {full} instead",
            )  # fmt: skip
        for access in accesses:
            if (step := access.step[lane]) not in (0, 1):
                yield NestWarning(
                    func, lane,
                    f"lanes of {lane} are {_apart(step)} in {access.tensor}: each is an access of "
                    "its own",
                    self._along(one, accesses, lane),
                )  # fmt: skip
                return

    def _not_vectorized(self, one: StageLoops, accesses: list[Access]) -> Iterator[NestWarning]:
        loops = [loop for loop in one.loops if self._extent(one, loop) > 1]
        if not loops:
            return
        inner = loops[-1]
        widest = max(accesses, key=lambda access: abs(access.step[inner] or 0))
        yield NestWarning(
            one.stage.func, inner,
            f"inner loop {inner} not vectorized: stride {_stride(widest.step[inner])} in "
            f"{widest.tensor}",
            self._along(one, accesses, inner),
        )  # fmt: skip

    def _along(self, one: StageLoops, accesses: list[Access], inner: str) -> str:
        """Which loop would do as a vector."""
        good = [
            loop
            for loop in one.loops
            if loop not in one.reducing
            and all(access.step[loop] in (0, 1) for access in accesses)
            and accesses[-1].step[loop] == 1
            and self._extent(one, loop) > 1
        ]
        if not good:
            return "no loop walks along neighbours everywhere: tile, or keep a copy the other way"
        width = min(self._lanes(one), 1 << (self._extent(one, good[-1]).bit_length() - 1))
        move = "" if good[-1] == inner else f"reorder {good[-1]} innermost, then "
        return f"{move}split {good[-1]} by {width} and vectorize"

    def _tails(self, one: StageLoops) -> Iterator[NestWarning]:
        """Loops that ask in each round whether they are past the end."""
        for node in self._nodes:
            is_here = (node.func, node.stage) == (one.stage.func, one.stage.number)
            if not is_here or node.kind != "loop" or not node.tail.startswith("guard"):
                continue
            if node.run in ("vector", "unrolled") or node.loop == one.loops[-1]:
                yield NestWarning(
                    node.func, node.loop,
                    f"{node.extent} does not divide the loop of which {node.loop} is the inner "
                    "part: the last rounds ask at each element",
                    "take a factor that divides, or the tail shift_inwards or predicate",
                )  # fmt: skip

    def _chain(self, one: StageLoops) -> Iterator[NestWarning]:
        """Sums that wait for each other."""
        counted_loops = [
            loop
            for loop in one.loops
            if one.runs[loop] in ("serial", "parallel") and self._extent(one, loop) > 1
        ]
        if not counted_loops or counted_loops[-1] not in one.reducing:
            return
        func, inner = one.stage.func, counted_loops[-1]
        write = write_of(self._regions, one)
        beside = [
            loop for loop in one.loops
            if one.runs[loop] in ("vector", "unrolled") and write.step[loop] != 0
        ]  # fmt: skip
        if not beside:
            yield NestWarning(
                func, inner,
                f"one sum at a time: each round of {inner} waits for the one before",
                f"reorder {inner} further out, write out a loop that it does not combine, or "
                "rfactor it into sums side by side",
            )  # fmt: skip

    def _recomputed(self) -> Iterator[NestWarning]:
        for name in self._work.funcs:
            needed = self._work.needed(name)
            times = self._work.computed(name) / needed if needed else 1.0
            stage = self._placed.program.by_name[name].stages[-1]
            done = self._work.computed(name) * max(stage.operations, 1)
            if times > _RECOMPUTED and done >= _SHARE * self._done:
                yield NestWarning(
                    name, "",
                    f"{name} is computed {times_text(times)} as often as needed",
                    f"compute {name} further out, in larger tiles, or keep it as a window",
                )  # fmt: skip

    def _serial(self) -> Iterator[NestWarning]:
        runs = {run for one in self._placed.stages() for run in one.runs.values()}
        if not runs & {"parallel", "gpu_block"} and self._done >= _PARALLEL_FROM:
            name = self._placed.program.outputs[0]
            loop = next(iter(self._placed.orders[name].stages[-1].loops), "")
            yield NestWarning(
                name, loop,
                f"nothing runs in parallel: {three_digits(self._done)} operations on one thread",
                f"run {loop} in parallel",
            )  # fmt: skip


def _stride(step: int | None) -> str:
    return "unknown" if step is None else str(step)


def _apart(step: int | None) -> str:
    return "scattered" if step is None else f"{step} apart"
