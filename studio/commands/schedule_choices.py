"""`passlens schedule --print choices`: what can be done next, guessed and measured."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from optimizer.errors import StudioError, plain
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.numbers import bytes_text, counted, three_digits, times_text
from optimizer.schedules.choices import Choice, Choices, choices_of
from optimizer.schedules.machine_model import MachineModel
from optimizer.schedules.meters import Meters
from optimizer.schedules.prediction import NOT_GUESSED
from profiling.cache.folder import cache_folder
from profiling.calibration.loops import machine_here
from profiling.schedules.effects import Effect, effect_of
from profiling.workers import default_pool
from studio.commands.output import table
from studio.commands.progress_line import progress_line

CHOICES = "choices"
_SHOWN, _REFUSED = 24, 12
_MOST_MEASURED = 50


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    what = "with --print choices: run the N that should be fastest, in turns with the schedule"
    parser.add_argument("--measure", type=int, default=0, metavar="N", help=what)


def choice_lines(
    algorithm: Algorithm, schedule: Schedule, measure: int, seconds: float
) -> Iterator[str]:
    """What can be done next, as text.

    Args:
        algorithm: of sizes that are numbers.
        schedule: so far.
        measure: how many of the best are run.
        seconds: of running each.

    Raises:
        StudioError: the schedule cannot be applied, or the number is impossible.
    """
    if not 0 <= measure <= _MOST_MEASURED:
        raise StudioError(f"--measure is 0 or more and {_MOST_MEASURED} at most.")
    machine = machine_here(cache_folder())
    found = choices_of(algorithm, schedule, machine)
    if found.now_us is None and measure:
        raise StudioError("--measure runs schedules here, and this one is for a GPU.")
    measured = _measured(algorithm, schedule, found.choices[:measure], seconds)
    yield f"now: {_guess(found.now_us)}, {_meters(found.now)}"
    yield ""
    yield from _rows(found.choices[:_SHOWN], measured)
    yield ""
    yield from _rest(found, machine)


def _measured(
    algorithm: Algorithm, schedule: Schedule, choices: Sequence[Choice], seconds: float
) -> list[Effect]:
    found: list[Effect] = []
    with progress_line() as progress:
        for number, one in enumerate(choices):
            progress(f"{one.step.func}: {one.step.text}", number / len(choices))
            found.append(
                effect_of(algorithm, schedule, one.schedule, pool=default_pool(), seconds=seconds)
            )
    return found


def _rows(choices: Sequence[Choice], measured: Sequence[Effect]) -> Iterator[str]:
    head = ["Func", "what", "guessed", "measured", "tasks × lanes", "work", "behind L2"]
    rows = [head if measured else [*head[:3], *head[4:]]]
    for number, one in enumerate(choices):
        effect = measured[number] if number < len(measured) else None
        told = "" if effect is None else effect.problem or times_text(effect.speedup)
        meters = one.meters
        cells = [
            plain(one.step.func), plain(one.step.text), _times(one.speedup), plain(told),
            f"{meters.tasks} × {meters.lanes}", times_text(meters.amplification),
            bytes_text(meters.moved[1].moved_bytes),
        ]  # fmt: skip
        rows.append(cells if measured else [*cells[:3], *cells[4:]])
    yield table(rows, right=frozenset({2, 3} if measured else {2}))


def _rest(found: Choices, machine: MachineModel) -> Iterator[str]:
    hidden = len(found.choices) - _SHOWN
    if hidden > 0:
        yield f"{counted(hidden, 'further step')} would be slower, as it is guessed."
    if found.left_out:
        yield f"{counted(found.left_out, 'step')} of Funcs with less to do {_were(found)} left out."
    for one in found.refused[:_REFUSED]:
        yield plain(f"not possible, {one.step.func}: {one.step.text}: {one.reason}")
    more = len(found.refused) - _REFUSED
    if more > 0:
        yield f"{counted(more, 'further step')} cannot be taken."
    yield f"Guessed for: {machine.source}"


def _times(speedup: float | None) -> str:
    return "" if speedup is None else times_text(speedup)


def _were(found: Choices) -> str:
    return "was" if found.left_out == 1 else "were"


def _meters(meters: Meters) -> str:
    return (
        f"{meters.tasks} × {meters.lanes} at a time, {times_text(meters.amplification)} the "
        f"operations, {bytes_text(meters.moved[1].moved_bytes)} behind L2"
    )


def _guess(us: float | None) -> str:
    return NOT_GUESSED if us is None else f"{three_digits(us)} µs guessed"
