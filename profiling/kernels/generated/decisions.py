"""Decisions about kernels in the records: what won on this machine, what lost and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from optimizer.codec import Format
from optimizer.errors import StudioError
from profiling.codegen.kernel import GENERATOR_IDS, GeneratorId
from profiling.kernels.generated.own_schedules import OWN_LABEL
from profiling.kernels.selection import WorkloadRace
from profiling.machine import Machine, this_machine
from profiling.records import Filter, Kind, Measurement, Recording, Records, hardware


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

    @property
    def generator(self) -> GeneratorId | None:
        """Who writes the code to take along; None where the runtime's own stays.

        The winner where it is ours to ship, else what is surely faster, too: code by TVM is not,
        nor is code in the order of a schedule that lies in the records of this machine alone.
        """
        sure: list[tuple[float, GeneratorId]] = [
            (row.contrast.low, one)
            for row in self.raced.rows()
            if row.believable and row.contrast is not None and row.contrast.verdict == "faster"
            if not row.candidate.label.startswith(OWN_LABEL)
            for one in GENERATOR_IDS
            if row.candidate.changes.get("generated_kernels") == one
        ]
        return max(sure, key=lambda found: found[0])[1] if sure else None


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
        KIND, finding(decision), workload.title, workload.key, race.machine, race.started_at,
        race.seconds, tuple(_measurements(decision)), DECISION.to_json(decision),
    )  # fmt: skip


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
