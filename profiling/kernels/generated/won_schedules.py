"""Schedules that somebody made, that won the race of their kernel, and that are still kept.

They are what the pass `generate-kernels` writes into its functions on this machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from optimizer.errors import StudioError
from optimizer.model.scheduled_functions import KERNEL_SCHEDULES, KernelSchedules
from optimizer.passes.kernels.generate_kernels import GenerateKernels
from optimizer.pipeline import Pipeline
from profiling.kernels.generated.decisions import KIND, kept
from profiling.kernels.generated.own_schedules import OwnSchedule, all_own
from profiling.machine import this_machine
from profiling.records import Filter, Records, hardware

_LATEST = 8


def won_schedules(records: Records) -> Mapping[str, OwnSchedule]:
    """By the name of a kernel the schedule that its newest race on a machine like this one took.

    Raises:
        DatabaseRefused: the database cannot be read.
    """
    by_kernel: dict[str, list[OwnSchedule]] = {}
    for own in all_own(records):
        by_kernel.setdefault(own.kernel, []).append(own)
    found = {kernel: _won(kernel, own, records) for kernel, own in by_kernel.items()}
    return {kernel: own for kernel, own in found.items() if own is not None}


def _won(kernel: str, own: Sequence[OwnSchedule], records: Records) -> OwnSchedule | None:
    machine = this_machine()
    for one in own:
        wanted = Filter(kinds=(KIND,), machine=hardware(machine), text=one.label)
        for listed in records.find(wanted, limit=_LATEST):
            decision = kept(listed.model_hash, records, machine)  # a later race may say otherwise
            if decision is None or decision.name != kernel:
                continue
            shipped = decision.shipped(own)
            if shipped is not None and shipped.own == one:
                return one
    return None


def with_won_schedules(pipeline: Pipeline, records: Callable[[], Records]) -> Pipeline:
    """The pipeline with these schedules for its pass, where it runs and has none of its own.

    Where the database cannot be read, kernels are in their default order.

    Args:
        pipeline: any.
        records: opens the database, if it is asked.
    """
    if not any(isinstance(one, GenerateKernels) and not one.schedules for one in pipeline.passes):
        return pipeline
    try:
        won = won_schedules(records())
    except StudioError:
        return pipeline
    return with_schedules_of(pipeline, won) if won else pipeline


def with_schedules_of(pipeline: Pipeline, won: Mapping[str, OwnSchedule]) -> Pipeline:
    """The pipeline with schedules for its pass."""
    document = KernelSchedules({kernel: won[kernel].schedule for kernel in sorted(won)})
    text = KERNEL_SCHEDULES.dumps(document).decode()
    passes = (
        replace(one, schedules=text) if isinstance(one, GenerateKernels) else one
        for one in pipeline.passes
    )
    return replace(pipeline, passes=tuple(passes))
