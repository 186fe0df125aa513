"""Generated functions with a schedule of their own: in which order their loops are compiled.

The schedule stands in the function's metadata, which counts for its hash: it is another kernel,
under the name of the first one and a second hash. Whoever builds code of it needs nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from onnx import FunctionProto

from optimizer.codec import Format
from optimizer.loops.schedule import SCHEDULE, Schedule
from optimizer.model.generated_functions import SCHEDULED, content_hash


@dataclass(frozen=True, slots=True)
class KernelSchedules:
    """Schedules by the names of the kernels whose default order they take the place of."""

    by_kernel: Mapping[str, Schedule] = field(default_factory=dict[str, Schedule])


KERNEL_SCHEDULES = Format(KernelSchedules, "passlens.kernel-schedules/1", "schedules of kernels")


@lru_cache(maxsize=8)
def schedules_from(text: str) -> Mapping[str, Schedule]:
    """Schedules by kernel, as a document has them; none of an empty text.

    Raises:
        StudioError: the text is no such document.
    """
    return KERNEL_SCHEDULES.loads(text.encode()).by_kernel if text else {}


def scheduled(function: FunctionProto, schedule: Schedule) -> FunctionProto:
    """The same kernel with this schedule."""
    made = FunctionProto()
    made.CopyFrom(function)
    made.metadata_props.add(key=SCHEDULED, value=SCHEDULE.dumps(schedule).decode())
    made.name = f"{function.name}_{content_hash(made)}"
    return made
