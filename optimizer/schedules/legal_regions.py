"""Regions of loops that can run as they are said to; the others are refused with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from optimizer.loops.schedule import Split
from optimizer.schedules.intervals import Interval, terms_interval
from optimizer.schedules.ordering import Refused, StageLoops
from optimizer.schedules.places import Terms
from optimizer.schedules.placing import Placed
from optimizer.schedules.program import extent_of
from optimizer.schedules.regions import Regions
from optimizer.schedules.rounds import Rounds, ranked


def regions_of(placed: Placed) -> Regions:
    """Boxes of all Funcs.

    Raises:
        Refused: a loop cannot run as it is said to, given how long it is.
    """
    found = Regions(placed)
    for stage in placed.stages():
        rounds = found.rounds[stage.stage.func, stage.stage.number]
        if stage.stage.func in placed.program.outputs:
            _refuse_tails(stage, rounds, placed.program.shape(stage.stage.func))
        _refuse_short(stage, rounds)
        for slide in found.slides[stage.stage.func]:
            _refuse_shifts(stage, stage.stage.axes[slide.axis].name)
        if stage.stage.func not in placed.program.outputs:
            _refuse_reads(found, stage, rounds)
            _refuse_parts(found, stage)
        for name, run in stage.runs.items():
            extents = rounds.extents[name]
            if run in ("vector", "unrolled") and extents.min() != extents.max():
                raise Refused(
                    f"loop {name} of {stage.stage.func} runs {extents.min()} to {extents.max()} "
                    f"times: {'vectors need' if run == 'vector' else 'unrolling needs'} one number"
                )
    return found


def _refuse_tails(stage: StageLoops, rounds: Rounds, shape: Sequence[int]) -> None:
    """Refuse loops that write past the end of an output."""
    variables = rounds.variables({}, rounds.depth)
    for axis, size in zip(stage.stage.axes, shape, strict=True):
        if int(variables[axis.name][1].max(initial=0)) >= size:
            raise Refused(
                f"loops over {axis.name} go past its {size} places, and {stage.stage.func} is an "
                "output: another tail, or a factor that divides, is needed"
            )


def _refuse_short(stage: StageLoops, rounds: Rounds) -> None:
    """Refuse loops that are shifted to before the start of the loop that they are a part of."""
    axes = {axis.name for axis in stage.stage.axes}
    for split, least in rounds.short:
        if split.loop not in axes:
            raise Refused(
                f"loop {split.loop} of {stage.stage.func} has {least} rounds, and {split.factor} "
                "of them shifted inwards go past its start: another tail is needed"
            )


def _refuse_reads(found: Regions, stage: StageLoops, rounds: Rounds) -> None:
    """Refuse loops that go past what is needed of a Func, if they read past the end of an input."""
    computed = found.computed[stage.stage.func]
    needed = dict(zip((axis.name for axis in stage.stage.axes), computed, strict=True))
    for axis in stage.stage.reduced:
        needed[axis.name] = np.asarray(0), np.asarray(extent_of(axis) - 1)
    needed = {
        name: (ranked(low, rounds.depth), ranked(high, rounds.depth))
        for name, (low, high) in needed.items()
    }
    looped = rounds.variables({}, rounds.depth)
    if all(np.array_equal(looped[name], needed[name]) for name in needed):
        return
    for tensor, shape in found.placed.program.inputs.items():
        if tensor not in found.placed.reading.of(stage.stage):
            continue
        spans = found.placed.reading.spans(stage.stage, tensor)
        for span, size in zip(spans, shape, strict=True):
            if any(_leaves(one, size, looped, needed) for one in span.items()):
                raise Refused(
                    f"loops of {stage.stage.func} go past what is needed of it, and so past the "
                    f"{size} places of {tensor}: another tail, or a factor that divides, is needed"
                )


def _refuse_parts(found: Regions, stage: StageLoops) -> None:
    """Refuse a window over an input that moves by two parts of one loop.

    Halide begins it so much earlier that it reads before the start.
    """
    placed = found.placed
    if not any(tensor in placed.program.inputs for tensor in placed.reading.of(stage.stage)):
        return
    moved: dict[tuple[str, int, str, int], str] = {}
    for slide in found.slides[stage.stage.func]:
        key = slide.loop
        whole = _whole_loop(placed.orders[key.func].stages[key.stage], key.name)
        before = moved.setdefault((key.func, key.stage, whole, slide.axis), key.name)
        if before != key.name:
            raise Refused(
                f"the window of {stage.stage.func} moves by {before} and {key.name}, parts of one "
                f"loop, and would begin before the start of what it reads: keep it in {before}"
            )


def _whole_loop(stage: StageLoops, loop: str) -> str:
    """The loop that one is a part of."""
    for step in reversed(stage.made):
        if isinstance(step, Split) and loop in (step.outer, step.inner):
            loop = step.loop
    return loop


def _leaves(
    span: tuple[Terms, tuple[int, int]],
    size: int,
    looped: Mapping[str, Interval],
    needed: Mapping[str, Interval],
) -> bool:
    """Whether an index leaves its axis in loops, and does not so in what is needed."""
    terms, (least, most) = span
    ends, told = terms_interval(terms, looped), terms_interval(terms, needed)
    if ends is None or told is None:
        return False
    after = int(np.max(ends[1])) > max(int(np.max(told[1])), size - 1 - most)
    return after or int(np.min(ends[0])) < min(int(np.min(told[0])), -least)


def _refuse_shifts(stage: StageLoops, axis: str) -> None:
    """Refuse loops along a window that go past what is new in a round: they would leave inputs."""
    along = {axis}
    for step in stage.made:
        if isinstance(step, Split) and step.loop in along:
            along |= {step.outer, step.inner}
            if step.tail in ("shift_inwards", "round_up"):
                raise Refused(
                    f"{step.tail} computes more of {step.func} along {axis} than a round of its "
                    "window adds: another tail is needed"
                )
