"""Schedules of a model's kernels that somebody made, kept so that the race tries them, too.

A schedule goes into the metadata of the kernel's function. What is in a function counts for its
name, so that it is another kernel with code of its own, whoever builds a library of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import onnx_ir as ir
from onnx_ir import serde

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.loops.schedule import SCHEDULE, Primitive, Schedule, ScheduleError, Split
from optimizer.model.generated_functions import KernelBody, kernel_body
from optimizer.model.scheduled_functions import scheduled
from optimizer.model.writer import write
from optimizer.operators.generated import GENERATED, region_title
from profiling.codegen.own_schedule import refuse_unsafe
from profiling.machine import this_machine
from profiling.records import Filter, Kind, Recording, Records

KIND: Kind = "schedule"
OWN_LABEL = "Halide, own schedule "
"""What the label of such a candidate begins with."""
MOST = 4
"""Of one kernel in a race, the newest."""
LONGEST_NAME = 60
_LATEST = 32
_MOST_KEPT = 256


@dataclass(frozen=True, slots=True)
class OwnSchedule:
    """A schedule of a kernel.

    Attributes:
        kernel: name of the function.
        name: of the schedule, for people.
        source: SHA-256 of the model for whose region it was made; empty where nobody said.
    """

    kernel: str
    name: str
    schedule: Schedule
    source: str = ""

    @property
    def text(self) -> str:
        """Whose schedule it is, for people."""
        return f"Schedule {self.name} of {region_title(self.kernel)} ({self.kernel}) is not used"

    @property
    def label(self) -> str:
        """Of the candidate; another one for another schedule of this name."""
        digest = hashlib.sha256(SCHEDULE.dumps(self.schedule)).hexdigest()
        return f"{OWN_LABEL}{self.name} ({digest[:4]})"


OWN_SCHEDULE = Format(OwnSchedule, "passlens.own-schedule/1", "schedule of a kernel")


def guarded(schedule: Schedule) -> tuple[Schedule, int]:
    """The same schedule for a kernel of a model, which is right on all sizes.

    Returns:
        The schedule, whose splits end with `guard_with_if` where they could go past an end, as
        those of autoschedulers do; how many it was.
    """
    ended = [
        replace(one, tail="guard_with_if") if isinstance(one, Split) and _refused(one) else one
        for one in schedule.primitives
    ]
    changed = sum(a is not b for a, b in zip(ended, schedule.primitives, strict=True))
    return Schedule(tuple(ended)), changed


def _refused(one: Primitive) -> bool:
    try:
        refuse_unsafe(Schedule((one,)))
    except ScheduleError:
        return True
    return False


def guarded_text(changed: int) -> str:
    """What a person is told of it; empty where nothing was changed."""
    if not changed:
        return ""
    splits = "One split ends" if changed == 1 else f"{changed} splits end"
    return f" {splits} with guard_with_if now: a kernel of a model is right on all sizes."


def keep_own(own: OwnSchedule, records: Records) -> int:
    """Keep a schedule as a candidate; one of the same name before it no longer counts.

    Raises:
        StudioError: it may not be built, or the database cannot be written.
    """
    return records.add(own_recording(own))


def own_recording(own: OwnSchedule) -> Recording:
    """A schedule as the records keep it.

    Raises:
        StudioError: it has no name or too long a one, or may not be built.
    """
    if not 0 < len(own.name.strip()) <= LONGEST_NAME:
        raise StudioError(f"The name of a schedule has 1 to {LONGEST_NAME} characters.")
    refuse_unsafe(own.schedule)
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    return Recording(
        KIND, _title(own.kernel, own.name), own.kernel, _key(own.kernel),
        this_machine(), now, 0.0, (), OWN_SCHEDULE.to_json(own),
    )  # fmt: skip


def kept_own(kernel: str, records: Records) -> tuple[OwnSchedule, ...]:
    """The newest schedules of a kernel, one of each name.

    Args:
        kernel: name of the function.
        records: where they are kept.
    """
    wanted = Filter(kinds=(KIND,), model_hash=_key(kernel))
    return _newest(records, wanted, _LATEST)[:MOST]


def all_own(records: Records) -> tuple[OwnSchedule, ...]:
    """The newest schedules of all kernels, one of each name."""
    return _newest(records, Filter(kinds=(KIND,)), _MOST_KEPT)


def older_own(source: str, kernels: Collection[str], records: Records) -> tuple[OwnSchedule, ...]:
    """Schedules that were kept of a model's regions as they were before: these are others now.

    Args:
        source: SHA-256 of the model.
        kernels: names of those that it has now.
        records: where schedules are kept.
    """
    return tuple(
        one for one in all_own(records) if one.source == source and one.kernel not in kernels
    )


def take_back(kernel: str, name: str, records: Records) -> bool:
    """Forget a schedule of a kernel; whether there was one.

    Raises:
        RecordsError: the database cannot be written.
    """
    found = records.find(Filter(kinds=(KIND,), model_hash=_key(kernel)), limit=_MOST_KEPT)
    title = _title(kernel, name)
    return any([records.delete(one.id) for one in found if one.title == title])


def _newest(records: Records, wanted: Filter, limit: int) -> tuple[OwnSchedule, ...]:
    found: dict[tuple[str, str], OwnSchedule] = {}
    for one in records.find(wanted, limit=limit):
        try:
            own = OWN_SCHEDULE.from_json(dict(records.load(one.id).payload))
        except StudioError:  # of another version
            continue
        found.setdefault((own.kernel, own.name), own)
    return tuple(found.values())


def _title(kernel: str, name: str) -> str:
    return f"Candidate {name} of {kernel}"


def _key(kernel: str) -> str:
    return hashlib.sha256(f"schedule of {kernel}".encode()).hexdigest()


def scheduled_body(body: KernelBody, schedule: Schedule) -> KernelBody:
    """The same kernel with this schedule, under a name of its own."""
    return kernel_body(scheduled(serde.serialize_function(body.function), schedule))


def with_schedules(
    source: Path, schedules: Mapping[str, Schedule], target: Path
) -> Mapping[str, str]:
    """A model whose kernels are in these orders, as `target`.

    Args:
        source: the file.
        schedules: by the names of its kernels; those that it has not are passed over.
        target: where it is written.

    Returns:
        Name of each kernel -> the one that it has now.
    """
    model = ir.load(source)
    named: dict[str, str] = {}
    for key, function in [*model.functions.items()]:
        schedule = schedules.get(function.name)
        if function.domain == GENERATED and schedule is not None:
            del model.functions[key]
            made = serde.deserialize_function(
                scheduled(serde.serialize_function(function), schedule)
            )
            model.functions[made.identifier()] = made
            named[function.name] = made.name
    for node in model.graph:
        if node.domain == GENERATED:
            node.op_type = named.get(node.op_type, node.op_type)
    write(model, target)
    return named
