"""Decisions about kernels in the records: what won on this machine, what lost and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from optimizer.codec import Format
from optimizer.errors import StudioError
from profiling.codegen.kernel import GENERATOR_IDS, GeneratorId
from profiling.kernels.generated.own_schedules import OWN_LABEL, OwnSchedule
from profiling.kernels.selection import WorkloadRace
from profiling.machine import Machine, this_machine
from profiling.records import Filter, Kind, Measurement, Recording, Records, hardware


@dataclass(frozen=True, slots=True)
class Shipped:
    """What a kernel is taken along as.

    Attributes:
        label: of the candidate.
        generator: who writes the code.
        own: in which order; None for the default one.
    """

    label: str
    generator: GeneratorId
    own: OwnSchedule | None = None


@dataclass(frozen=True, slots=True)
class KernelDecision:
    """What was found about a kernel on the sizes of one model.

    Attributes:
        name: of the generated function.
        copies: of the kernel in one run: times are of all of them.
        threads: with which it was raced.
        checked: label -> runs on edge cases that were right.
        raced: the candidates, the runtime's best form first, and their race.
    """

    name: str
    copies: int
    threads: int
    checked: Mapping[str, int]
    raced: WorkloadRace

    @property
    def winner(self) -> str:
        """Label of what to take; the runtime's best form where nothing is surely faster."""
        return self.raced.winner().candidate.label

    @property
    def pays(self) -> bool:
        """Whether generated code won."""
        return self.raced.winner().contrast is not None

    def shipped(self, own: Iterable[OwnSchedule] = ()) -> Shipped | None:
        """What is taken along: the best of ours that is surely faster than the runtime's own.

        Code by TVM is raced, and never shipped.

        Args:
            own: schedules that somebody made of the kernel and still keeps; others do not count.

        Returns:
            None where the runtime's own stays.
        """
        kept = {one.label: one for one in own}
        for label, generator in self.sure():
            if label in kept or not _is_own(label):
                return Shipped(label, generator, kept.get(label))
        return None

    def sure(self) -> list[tuple[str, GeneratorId]]:
        """Labels of all code of ours that is surely faster, the best first, and who writes it."""
        found: list[tuple[float, str, GeneratorId]] = [
            (row.contrast.low, row.candidate.label, one)
            for row in self.raced.rows()
            if row.believable and row.contrast is not None and row.contrast.verdict == "faster"
            for one in GENERATOR_IDS
            if row.candidate.changes.get("generated_kernels") == one
        ]
        return [(label, one) for _, label, one in sorted(found, key=lambda each: -each[0])]


KIND: Kind = "decision"
DECISION = Format(KernelDecision, "passlens.kernel-decision/1", "decision about a kernel")
_LATEST = 8


def keep(decision: KernelDecision, records: Records) -> int | None:
    """Keep a decision; None where nothing was raced.

    Raises:
        RecordsError: the database cannot be written.
    """
    made = recording_of(decision)
    return None if made is None else records.add(made)


def recording_of(decision: KernelDecision) -> Recording | None:
    """A decision as the records keep it; None where nothing was raced."""
    race, workload = decision.raced.race, decision.raced.operator.workload
    if race is None:
        return None
    return Recording(
        KIND, _title(decision), workload.title, workload.key, race.machine, race.started_at,
        race.seconds, tuple(_measurements(decision)), DECISION.to_json(decision),
    )  # fmt: skip


def _title(decision: KernelDecision) -> str:
    """The finding, with the schedule that is taken along where that is another one."""
    told, sure = finding(decision), decision.sure()
    label = sure[0][0] if sure else ""
    return f"{told}; taken along: {label}" if label not in told and _is_own(label) else told


def _is_own(label: str) -> bool:
    return label.startswith(OWN_LABEL)


def kept(key: str, records: Records, machine: Machine | None = None) -> KernelDecision | None:
    """The newest decision about a workload on a machine like this one; None if there is none.

    Args:
        key: of the workload.
        records: where decisions are kept.
        machine: this one unless given.
    """
    here = machine or this_machine()
    wanted = Filter(kinds=(KIND,), model_hash=key, machine=hardware(here))
    for found in records.find(wanted, limit=_LATEST):
        if found.machine.runtime != here.runtime:
            continue
        try:
            return DECISION.from_json(dict(records.load(found.id).payload))
        except StudioError:  # of another version
            continue
    return None


def finding(decision: KernelDecision) -> str:
    """What won, and by how much, one line."""
    raced = decision.raced
    best = raced.winner()
    if raced.race is None:
        return f"Not raced: {raced.error}"
    against = raced.candidates[0].label
    if best.contrast is None:
        return f"{against} stays: nothing generated is surely faster"
    return f"{best.candidate.label}: {best.contrast.brief} than {against}"


def _measurements(decision: KernelDecision) -> Iterator[Measurement]:
    raced = decision.raced
    timings = {} if raced.race is None else {one.label: one for one in raced.race.timings}
    for row in raced.rows():
        label, changes = row.candidate.label, dict(row.candidate.changes)
        timing = timings.get(label)
        known = Measurement(
            label, raced.operator.workload.key, options=changes, verdict=row.verdict
        )
        summary = None if timing is None else timing.summary
        if timing is None or summary is None:
            yield replace(known, verdict="", error=row.verdict)
            continue
        yield replace(
            known, p50_ms=summary.p50_ms, p95_ms=summary.p95_ms, min_ms=summary.min_ms,
            runs=summary.runs, peak_bytes=timing.peak_bytes, error=timing.error or row.wrong,
        )  # fmt: skip
