"""The decision about a whole network: which of its kernels stay, and against what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.isolation import Following
from optimizer.loops.schedule import Schedule
from optimizer.numbers import counted, times_text
from optimizer.verify import jobs
from profiling.codegen.store import code_version
from profiling.kernels.generated.decisions import KIND, KernelDecision
from profiling.kernels.generated.own_schedules import OwnSchedule, with_schedules
from profiling.kernels.generated.regions import KINDS, KernelRegion, Kind
from profiling.kernels.generated.rivals import Rival, unfused_config
from profiling.kernels.generated.settling import SettledNetwork, settle_network, without_kernels
from profiling.machine import Machine, this_machine
from profiling.racing.plan import RacePlan
from profiling.racing.race import Timing, Variant
from profiling.records import Filter, Measurement, Recording, Records, hardware
from profiling.workers import WorkerPool

GENERATED = "generated"
"""Label of the network with kernels."""
_LATEST = 8


@dataclass(frozen=True, slots=True)
class NetworkKernel:
    """A kernel of a network, and what is known of it alone.

    Attributes:
        speedup: times as fast alone as the runtime's best form; None where it was not raced.
        refusal: why it is not tried in the network; empty where it is.
        own: the schedule in which it is; None for the default one.
    """

    region: KernelRegion
    speedup: float | None = None
    refusal: str = ""
    own: OwnSchedule | None = None

    @property
    def name(self) -> str:
        """Of its function."""
        return self.region.name

    @property
    def text(self) -> str:
        """What it computes, what it gains alone, and whose schedule it has."""
        alone = "" if self.speedup is None else f" ({times_text(self.speedup)} alone)"
        order = "" if self.own is None else f", schedule {self.own.name}"
        return f"{self.region.title}{alone}{order}"


@dataclass(frozen=True, slots=True)
class NetworkDecision:
    """What was found about the kernels of a network.

    Attributes:
        model: display name.
        sizes: of its free dimensions.
        threads: of a session.
        code: hash of what wrote the kernels.
        kernels: all that were planned.
        same: label of a form that was raced -> those that are the same graph in the runtime.
        settled: which stay.
    """

    model: str
    sizes: Mapping[str, int]
    threads: int
    code: str
    kernels: tuple[NetworkKernel, ...]
    same: Mapping[str, tuple[str, ...]]
    settled: SettledNetwork

    @property
    def time(self) -> float:
        """Share of the best time without kernels; 1 where none stay."""
        found = self.settled.contrast
        return 1.0 if found is None else 1 / found.speedup

    @property
    def schedules(self) -> dict[str, Schedule]:
        """By name of a kernel the schedule that it was raced with; none for the default one."""
        return {one.name: one.own.schedule for one in self.kernels if one.own is not None}

    def has_orders_of(self, kernels: Iterable[NetworkKernel]) -> bool:
        """Whether the schedules with which it was raced are those of these kernels."""
        return {one.name: one.own for one in self.kernels} == {one.name: one.own for one in kernels}

    def kept(self, kind: Kind | None = None) -> tuple[NetworkKernel, ...]:
        """The kernels that stay, those first that promise most."""
        known = {one.name: one for one in self.kernels}
        stay = (known[name] for name in self.settled.kept)
        return tuple(one for one in stay if kind is None or one.region.kind == kind)

    def left_out(self) -> Iterator[tuple[NetworkKernel, str]]:
        """The kernels that do not stay, with the reason."""
        taken = {
            name: f"in the network: {_share(part.contrast.speedup, part.contrast.rounds)}"
            for part in self.settled.parts
            if not part.pays
            for name in part.names
        }
        for one in self.kernels:
            if one.name not in self.settled.kept:
                stays = "the network is not surely faster with it"
                yield one, one.refusal or taken.get(one.name, stays)


NETWORK = Format(NetworkDecision, "passlens.network-decision/1", "decision about a network")


def kernels_alone(
    regions: Sequence[KernelRegion],
    decisions: Mapping[str, KernelDecision],
    own: Iterable[OwnSchedule] = (),
) -> tuple[NetworkKernel, ...]:
    """The kernels of a network, those first that save most, by their races alone.

    One that is slower alone, wrong, or not to be built is not tried in the network.

    Args:
        regions: of all kernels.
        decisions: about them, by name.
        own: schedules of them that somebody keeps; one that won is how its kernel is tried.
    """
    kept = [*own]
    found: list[NetworkKernel] = []
    for region in regions:
        decision = decisions.get(region.name)
        shipped = None if decision is None else decision.shipped(_of(region.name, kept))
        found.append(_alone(region, decision, None if shipped is None else shipped.own))
    return tuple(sorted(found, key=lambda one: -_saved(one, decisions.get(one.name))))


def decide_network(
    rivals: Sequence[Rival],
    generated: Path,
    kernels: Sequence[NetworkKernel],
    *,
    model: str,
    sizes: Mapping[str, int],
    threads: int,
    seconds: float,
    pool: WorkerPool,
    folder: Path,
    **following: Unpack[Following],
) -> NetworkDecision:
    """Race a network with its kernels, and take back what does not pay.

    Args:
        rivals: all forms without kernels.
        generated: the file with all that were planned.
        kernels: these.
        model: display name.
        sizes: of the free dimensions.
        threads: of a session.
        seconds: by the clock, for all races together.
        pool: where they run.
        folder: for files with some of the kernels.
        following: told what is done, and asked often.

    Raises:
        StudioError: nothing runs.
        Cancelled: if `cancelled` said so.
    """
    tried = [one for one in kernels if not one.refusal]
    file = folder / "tried.onnx"
    refused = [one.name for one in kernels if one.refusal]
    pool(without_kernels, generated.absolute(), refused, file.absolute())
    orders = {one.name: one.own.schedule for one in tried if one.own is not None}
    if orders:
        before, file = file, folder / "ordered.onnx"
        pool(with_schedules, before.absolute(), orders, file.absolute())
    config = unfused_config(threads)
    settled = settle_network(
        [one.variant for one in rivals],
        Variant(GENERATED, file, config),
        [[one.name for one in tried if one.region.kind == kind] for kind in KINDS],
        pool=pool,
        plan=RacePlan(
            seconds=seconds, runs=1, precision=0.005,
            request=jobs.Request(seeds=1, bindings=dict(sizes)),
        ),
        folder=folder,
        **following,
    )  # fmt: skip
    same = {one.label: one.same for one in rivals if one.same}
    return NetworkDecision(
        model, dict(sizes), threads, code_version(), tuple(kernels), same, settled
    )


def finding(decision: NetworkDecision) -> str:
    """How much faster, and against what, one line."""
    settled = decision.settled
    found, best = settled.contrast, settled.best
    if not decision.kernels:
        return "Nothing of this network becomes a generated kernel"
    if found is None:
        return f"{best} stays: no generated kernel surely pays in the network"
    share = f"{counted(len(settled.kept), 'kernel')} of {len(decision.kernels)}"
    return f"{share}: {found.brief} than {best}"


def gave(decision: NetworkDecision, kind: Kind) -> float | None:
    """Times as fast by the kernels of one kind that stay; None where nobody asked about them."""
    stay = {one.name for one in decision.kept(kind)}
    parts = [part for part in decision.settled.parts if part.pays and stay.issuperset(part.names)]
    asked = {name for part in parts for name in part.names}
    if not stay or not parts or asked != stay:
        return None
    product = 1.0
    for part in parts:
        product *= part.contrast.speedup
    return product


def keep_network(decision: NetworkDecision, digest: str, records: Records) -> int:
    """Keep a decision.

    Args:
        decision: about a network.
        digest: SHA-256 of its file as it came.
        records: where decisions are kept.

    Raises:
        RecordsError: the database cannot be written.
    """
    return records.add(network_recording(decision, digest))


def network_recording(decision: NetworkDecision, digest: str) -> Recording:
    """A decision as the records keep it; `digest` is of the network's file as it came."""
    race = decision.settled.first
    last = decision.settled.last
    return Recording(
        KIND, finding(decision), decision.model, digest, race.machine, race.started_at,
        race.seconds + (0.0 if last is None else last.seconds),
        tuple(_measurement(decision, timing) for timing in race.timings),
        NETWORK.to_json(decision),
    )  # fmt: skip


def kept_network(
    digest: str, records: Records, *, threads: int | None = None, machine: Machine | None = None
) -> NetworkDecision | None:
    """The newest decision about a network by this version, on a machine like this one.

    Args:
        digest: SHA-256 of its file.
        records: where decisions are kept.
        threads: of a session; any unless given.
        machine: this one unless given.
    """
    here = machine or this_machine()
    wanted = Filter(kinds=(KIND,), model_hash=digest, machine=hardware(here))
    for found in records.find(wanted, limit=_LATEST):
        if found.machine.runtime != here.runtime:
            continue
        try:
            decision = NETWORK.from_json(dict(records.load(found.id).payload))
        except StudioError:  # of another version
            continue
        if threads in (None, decision.threads):
            return decision
    return None


def _of(kernel: str, own: Sequence[OwnSchedule]) -> list[OwnSchedule]:
    return [one for one in own if one.kernel == kernel]


def _alone(
    region: KernelRegion, decision: KernelDecision | None, own: OwnSchedule | None
) -> NetworkKernel:
    if decision is None:
        return NetworkKernel(region)
    row = decision.raced.row(_label(own))
    if row.contrast is None or not row.believable:
        return NetworkKernel(region, refusal=f"alone: {row.verdict}")
    if row.contrast.high < 1:
        speed = times_text(row.contrast.speedup)
        return NetworkKernel(region, row.contrast.speedup, f"alone: {speed} as fast")
    return NetworkKernel(region, row.contrast.speedup, own=own)


def _label(own: OwnSchedule | None) -> str:
    return "Halide" if own is None else own.label


def _saved(one: NetworkKernel, decision: KernelDecision | None) -> float:
    """Milliseconds of a run that it saves by its race alone."""
    if decision is None or one.speedup is None:
        return 0.0
    p50_ms = decision.raced.row(_label(one.own)).p50_ms or 0.0
    return one.region.places * (one.speedup - 1) * p50_ms / decision.copies


def _share(speedup: float, rounds: int) -> str:
    return f"{times_text(speedup)} as fast with it" if rounds else "its result is another"


def _measurement(decision: NetworkDecision, timing: Timing) -> Measurement:
    race, summary = decision.settled.first, timing.summary
    known = Measurement(
        timing.label,
        options=dict(sorted(timing.config.changed().items())),
        verdict=race.verdict(timing.label),
        peak_bytes=timing.peak_bytes,
        error=timing.error,
    )
    if summary is None:
        return known
    return replace(
        known, p50_ms=summary.p50_ms, p95_ms=summary.p95_ms, min_ms=summary.min_ms,
        runs=summary.runs,
    )  # fmt: skip
