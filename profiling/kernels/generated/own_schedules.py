"""Schedules of a model's kernels that somebody made, kept so that the race tries them, too.

A schedule goes into the metadata of the kernel's function. What is in a function counts for its
name, so that it is another kernel with code of its own, whoever builds a library of it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from onnx_ir import serde

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.loops.schedule import SCHEDULE, Schedule
from optimizer.model.generated_functions import (
    SCHEDULED,
    KernelBody,
    content_hash,
    kernel_body,
)
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


@dataclass(frozen=True, slots=True)
class OwnSchedule:
    """A schedule of a kernel.

    Attributes:
        kernel: name of the function.
        name: of the schedule, for people.
    """

    kernel: str
    name: str
    schedule: Schedule

    @property
    def label(self) -> str:
        """Of the candidate; another one for another schedule of this name."""
        digest = hashlib.sha256(SCHEDULE.dumps(self.schedule)).hexdigest()
        return f"{OWN_LABEL}{self.name} ({digest[:4]})"


OWN_SCHEDULE = Format(OwnSchedule, "passlens.own-schedule/1", "schedule of a kernel")


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
        KIND, f"Candidate {own.name} of {own.kernel}", own.kernel, _key(own.kernel),
        this_machine(), now, 0.0, (), OWN_SCHEDULE.to_json(own),
    )  # fmt: skip


def kept_own(kernel: str, records: Records) -> tuple[OwnSchedule, ...]:
    """The newest schedules of a kernel, one of each name.

    Args:
        kernel: name of the function.
        records: where they are kept.
    """
    found: dict[str, OwnSchedule] = {}
    for one in records.find(Filter(kinds=(KIND,), model_hash=_key(kernel)), limit=_LATEST):
        try:
            own = OWN_SCHEDULE.from_json(dict(records.load(one.id).payload))
        except StudioError:  # of another version
            continue
        found.setdefault(own.name, own)
    return tuple(found.values())[:MOST]


def _key(kernel: str) -> str:
    return hashlib.sha256(f"schedule of {kernel}".encode()).hexdigest()


def scheduled_body(body: KernelBody, schedule: Schedule) -> KernelBody:
    """The same kernel with this schedule, under a name of its own."""
    function = serde.serialize_function(body.function)
    entry = function.metadata_props.add()
    entry.key, entry.value = SCHEDULED, SCHEDULE.dumps(schedule).decode()
    stem = function.name.rpartition("_")[0]
    function.name = f"{stem}_{content_hash(function)}"
    return kernel_body(function)
