"""`passlens schedule`: the loops of an example or of a model's kernel, down to its code."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimizer.errors import RunError, StudioError, plain, quoted
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import SCHEDULE, Schedule
from optimizer.numbers import bytes_text, three_digits, times_text
from optimizer.schedules.document import SCHEDULE_VIEW, ScheduleView, StepView, view_of
from optimizer.schedules.examples import EXAMPLES, Example
from optimizer.schedules.excess import runnable_nest
from optimizer.schedules.halide_program import halide_program
from optimizer.schedules.halide_words import Language
from optimizer.schedules.nest import nest_text
from optimizer.schedules.prediction import NOT_GUESSED
from profiling.cache.folder import cache_folder
from profiling.calibration.loops import machine_here
from profiling.codegen.levels import cpu_level
from profiling.schedules.code import code
from profiling.schedules.functions import CODE_VIEWS
from profiling.schedules.running import timed
from profiling.workers import default_pool
from studio.commands import DONE, schedule_autoscheduler, schedule_candidate, schedule_choices
from studio.commands.output import print_json, table
from studio.commands.schedule_autoscheduler import autoscheduled_by
from studio.commands.schedule_candidate import kept_candidate, taken_back
from studio.commands.schedule_choices import CHOICES, choice_lines
from studio.commands.schedule_code import KINDS, declare_code, is_code, show_code
from studio.commands.schedule_polyhedral import POLYHEDRAL, polyhedral_lines

LIMITS = JobLimits(seconds=60, memory_bytes=4096 * MIB)
"""Of compiling one schedule, or timing some."""
_LONGEST_SCHEDULE = 16 * MIB

_LANGUAGES: Mapping[str, Language] = {".py": "python", ".cpp": "cpp"}


@dataclass(frozen=True)
class Subject:
    """What is scheduled.

    Attributes:
        title: for people.
        algorithm: of sizes that are numbers.
        schedules: by name; the first is what others are timed against.
        kernel: name of the model's function; empty for an example.
        source: SHA-256 of the model; empty for an example.
    """

    title: str
    algorithm: Algorithm
    schedules: dict[str, Schedule]
    kernel: str = ""
    source: str = ""


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("subject", metavar="EXAMPLE|MODEL", nargs="?", help="which; without, the examples")
    add("--region", metavar="R", help="a kernel of the model: its name, or its number from 1 on")
    add("--node", metavar="NAME", help="the kernel that does the work of this node of the model")
    add("--bind", action="append", default=[], metavar="DIM=SIZE", help="settle a free dimension")
    add("--schedule", metavar="NAME", help="one of the example's; the last by default")
    add("--apply", type=Path, metavar="FILE", help="a schedule of your own, as --save writes it")
    add("--save", type=Path, metavar="FILE", help="write the schedule, to be edited and applied")
    kinds = ("nest", "steps", CHOICES, POLYHEDRAL, *CODE_VIEWS, *KINDS)
    add("--print", choices=kinds, default="nest", dest="shown", help="nest and meters by default")
    schedule_autoscheduler.declare(parser)
    schedule_choices.declare(parser)
    declare_code(parser)
    schedule_candidate.declare(parser)
    add("--time", action="store_true", help="run it in turns with the first schedule")
    add("--seconds", type=float, default=2.0, metavar="S", help="of timing; 2 by default")
    what = "write a program in Halide's Python (.py) or C++ (.cpp) that runs elsewhere"
    add("--export", type=Path, metavar="FILE", help=what)
    add("--json", action="store_true", help="all steps with nests and meters, to stdout")


def run(arguments: argparse.Namespace) -> int:
    """Show a schedule, and what is asked for besides.

    Raises:
        StudioError: there is no such subject or schedule, or a primitive cannot be applied.
    """
    if arguments.subject is None:
        for line in _examples():
            print(line)
        return DONE
    subject = _subject(arguments)
    if arguments.take_back is not None:
        print(taken_back(subject.kernel, arguments.take_back))
        return DONE
    name, schedule = _chosen(arguments, subject)
    if is_code(arguments):
        show_code(arguments, f"{subject.title}: {name}", subject.algorithm, schedule)
    elif arguments.json:
        view = _view(f"{subject.title}: {name}", subject, schedule)
        print_json(SCHEDULE_VIEW.to_json(view))
    else:
        for line in _shown(arguments, subject, name, schedule):
            print(line)
        for line in _times(subject, name, schedule, arguments.seconds) if arguments.time else ():
            print(line)
    _write(arguments, subject, schedule)
    if arguments.candidate is not None:
        told = subject.algorithm, subject.kernel, arguments.candidate, schedule
        print(kept_candidate(*told, source=subject.source))
    return DONE


def _write(arguments: argparse.Namespace, subject: Subject, schedule: Schedule) -> None:
    if arguments.save is not None:
        _to_file(arguments.save, SCHEDULE.dumps(schedule))
    if arguments.export is not None:
        if arguments.export.suffix not in _LANGUAGES:
            raise StudioError("--export writes a .py or a .cpp file.")
        runnable_nest(subject.algorithm, schedule)
        language = _LANGUAGES[arguments.export.suffix]
        text = halide_program(subject.algorithm, schedule, language)
        _to_file(arguments.export, text.encode())


def _to_file(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise StudioError(f"{quoted(path)} cannot be written: {error.strerror}.") from error


def _examples() -> Iterator[str]:
    rows = [[one.id, one.title, ", ".join(each.name for each in one.schedules)]
            for one in EXAMPLES.values()]  # fmt: skip
    yield table([["example", "", "schedules"], *rows])


def _subject(arguments: argparse.Namespace) -> Subject:
    known = EXAMPLES.get(arguments.subject)
    if arguments.node is not None and arguments.region is not None:
        raise StudioError("--node and --region name one kernel each; give one of them.")
    if known is not None:
        return _of_example(known)
    if not Path(arguments.subject).exists():
        raise StudioError(
            f"There is no example and no file {quoted(arguments.subject)}; the examples are "
            f"{', '.join(EXAMPLES)}."
        )
    # With a model come its loader, a pipeline and the runtime.
    from studio.commands.schedule_model import model_subject

    found = model_subject(arguments.subject, arguments.bind, arguments.region, node=arguments.node)
    schedules = {"no schedule": Schedule(), "default schedule": found.schedule}
    return Subject(found.title, found.algorithm, schedules, found.kernel, found.source)


def _of_example(example: Example) -> Subject:
    schedules = {one.name: one.schedule for one in example.schedules}
    return Subject(example.title, example.algorithm, schedules)


def _chosen(arguments: argparse.Namespace, subject: Subject) -> tuple[str, Schedule]:
    if arguments.autoschedule is not None:
        return arguments.autoschedule, autoscheduled_by(arguments.autoschedule, subject.algorithm)
    if arguments.apply is not None:
        return arguments.apply.name, _read(arguments.apply)
    name = arguments.schedule or next(reversed(subject.schedules))
    if name not in subject.schedules:
        there = ", ".join(subject.schedules)
        raise StudioError(f"There is no schedule {quoted(name)} of this; there are {there}.")
    return name, subject.schedules[name]


def _read(path: Path) -> Schedule:
    try:
        if path.stat().st_size > _LONGEST_SCHEDULE:
            raise StudioError(f"{quoted(path)} is too long for a schedule.")
        return SCHEDULE.loads(path.read_bytes())
    except OSError as error:
        raise StudioError(f"{quoted(path)} cannot be read: {error.strerror}.") from error


def _view(title: str, subject: Subject, schedule: Schedule) -> ScheduleView:
    """All steps, their times guessed for this machine if it was calibrated."""
    return view_of(title, subject.algorithm, schedule, machine=machine_here(cache_folder()))


def _shown(
    arguments: argparse.Namespace, subject: Subject, name: str, schedule: Schedule
) -> Iterator[str]:
    """What is printed."""
    if arguments.shown in CODE_VIEWS:
        runnable_nest(subject.algorithm, schedule)
        yield default_pool()(
            code, subject.algorithm, schedule, arguments.shown, cpu_level(), limits=LIMITS
        )
        return
    if arguments.shown == CHOICES:
        yield plain(f"{subject.title}: {name}")
        told = arguments.measure, arguments.seconds
        yield from choice_lines(subject.algorithm, schedule, *told)
        return
    if arguments.shown == POLYHEDRAL:
        yield plain(f"{subject.title}: {name}")
        yield from polyhedral_lines(subject.algorithm, schedule)
        return
    view = _view(name, subject, schedule)
    yield plain(f"{subject.title}: {name}")
    if arguments.shown == "steps":
        yield from _steps(view.steps)
    else:
        yield from _step(view.steps[-1])
    for number, step in enumerate(view.steps):
        if step.refusal:
            yield plain(f"Primitive {number - 1}, {step.primitive}: {step.refusal}.")


def _steps(steps: Sequence[StepView]) -> Iterator[str]:
    for step in steps:
        yield ""
        yield plain(step.primitive or "no primitive")
        yield from (f"  {line}" for line in _step(step))


def _step(step: StepView) -> Iterator[str]:
    yield from nest_text(step.nodes).splitlines()
    meters = step.meters
    yield (
        f"parallelism: {meters.tasks} × {meters.lanes} at a time, "
        f"{meters.independent} rounds could be"
    )
    yield f"redundant work: {times_text(meters.amplification)} the operations that are needed"
    moved = ", ".join(f"{bytes_text(one.moved_bytes)} behind {one.level}" for one in meters.moved)
    yield f"locality: {bytes_text(meters.working_set_bytes)} held, {moved}"
    if step.predicted_us is None:
        yield f"time: {NOT_GUESSED}"
    for one in step.warnings:
        yield plain(f"warning, {one.func}: {one.text}; {one.advice}")


def _times(subject: Subject, name: str, schedule: Schedule, seconds: float) -> Iterator[str]:
    """Both schedules in turns."""
    if not 0 < seconds <= LIMITS.seconds / 2:
        raise StudioError(f"--seconds is above 0 and {LIMITS.seconds / 2:g} at most.")
    runnable_nest(subject.algorithm, schedule)
    first = next(iter(subject.schedules))
    both = [subject.schedules[first], schedule]
    try:
        found = default_pool()(timed, subject.algorithm, both, cpu_level(), seconds, limits=LIMITS)
    except RunError as error:
        raise StudioError(f"This schedule cannot be timed: {error.message}") from error
    rows = [["", "median", "least", "runs"]]
    for label, times in zip((first, name), found, strict=True):
        cells = (statistics.median(times), min(times))
        rows.append(
            [plain(label), *(f"{three_digits(1000 * one)} ms" for one in cells), str(len(times))]
        )
    yield table(rows, right=frozenset({1, 2, 3}))
    ratio = statistics.median(found[0]) / statistics.median(found[1])
    yield f"{times_text(ratio)} as fast as {plain(first)}."
