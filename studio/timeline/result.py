"""What came out of profiling variants, and its recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from optimizer.codec import structured
from optimizer.errors import StudioError
from profiling.config.settings import from_values
from profiling.machine import Machine
from profiling.records import Measurement, Recording
from profiling.records.database import MOST_PAYLOAD_BYTES
from profiling.records.recording_json import dumps
from profiling.timeline.attribution import Attribution, Kernel, attribute, kernels_of
from profiling.timeline.finding import few_runs, finding
from profiling.timeline.origins import SourceNode, StepNode
from profiling.timeline.profile import Phase, Profile
from profiling.timeline.profile_json import profile_from_json, profile_to_json
from studio.variants.entrant import Entrant

SCHEMA = "passlens.profile-report/1"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Profiled:
    """One variant.

    Attributes:
        step: of its trace.
        profile: None where the variant did not run.
        nodes: of that step, by their name in the file.
        error: why there is no profile, empty if there is one.
        workload: SHA-256 of the file that ran.
    """

    entrant: Entrant
    step: int
    profile: Profile | None
    nodes: Mapping[str, StepNode]
    error: str = ""
    workload: str = ""

    @property
    def label(self) -> str:
        """The entrant's."""
        return self.entrant.label

    def kernels(self, phase: Phase) -> list[Kernel]:
        """The operators that ran; none without a profile."""
        return [] if self.profile is None else kernels_of(self.profile, self.nodes, phase)


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """What came out.

    Attributes:
        model: display name.
        source: nodes of the source by id.
        started_at: UTC, ISO 8601.
        seconds: duration.
        model_hash: SHA-256 of the source model.
        runs: made of each variant; a recording may have kept fewer.
        kept: id of its recording; None where it was not kept.
    """

    model: str
    variants: tuple[Profiled, ...]
    source: Mapping[str, SourceNode]
    machine: Machine
    started_at: str
    seconds: float
    model_hash: str = ""
    runs: int = 0
    kept: int | None = None

    @property
    def profiles(self) -> dict[str, Profile]:
        """The profiles there are, by label."""
        return {one.label: one.profile for one in self.variants if one.profile is not None}

    def attribution(self, before: str, after: str, phase: Phase) -> Attribution:
        """Two variants' times, by the source's nodes."""
        named = {one.label: one for one in self.variants}
        return attribute(named[before].kernels(phase), named[after].kernels(phase))

    def recording(self, *, most_bytes: int = MOST_PAYLOAD_BYTES) -> Recording | None:
        """What the records keep; None where nothing ran.

        Args:
            most_bytes: if the payload has more, only the runs that figures are drawn from stay.
        """
        if not self.profiles:
            return None
        payload = _payload(self)
        if len(dumps(payload)) > most_bytes:
            payload = _payload(replace(self, variants=tuple(map(_with_few_runs, self.variants))))
        return Recording(
            kind="profile",
            title=finding(self.profiles, "steady"),
            model=self.model,
            model_hash=self.model_hash,
            machine=self.machine,
            started_at=self.started_at,
            seconds=self.seconds,
            measurements=tuple(map(_measurement, self.variants)),
            payload=payload,
        )


def profile_from_payload(payload: Mapping[str, Any]) -> ProfileReport:
    """The report again.

    Raises:
        StudioError: the payload is not of this schema.
    """
    if payload.get("schema") != SCHEMA:
        raise StudioError(f"This is no recorded profile: its schema is not {SCHEMA}.")
    try:
        steps = list(map(_nodes, payload["steps"]))
        return ProfileReport(
            payload["model"],
            tuple(_variant(row, steps) for row in payload["variants"]),
            {key: SourceNode(name, op, fate) for key, name, op, fate in payload["source"]},
            structured(Machine, payload["machine"], "machine"),
            payload["started_at"],
            payload["seconds"],
            payload["model_hash"],
            payload["runs"],
        )
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise StudioError(f"This recorded profile is damaged: {type(error).__name__}.") from error


def _payload(report: ProfileReport) -> Json:
    steps: list[Mapping[str, StepNode]] = []
    for one in report.variants:
        if one.nodes not in steps:
            steps.append(one.nodes)
    return {
        "schema": SCHEMA,
        "model": report.model,
        "model_hash": report.model_hash,
        "machine": asdict(report.machine),
        "started_at": report.started_at,
        "seconds": report.seconds,
        "runs": report.runs,
        "source": [[key, n.name, n.op_type, n.fate] for key, n in report.source.items()],
        "steps": [
            [[name, n.id, n.op_type, list(n.sources)] for name, n in nodes.items()]
            for nodes in steps
        ],
        "variants": [_variant_to_json(one, steps.index(one.nodes)) for one in report.variants],
    }


def _variant_to_json(one: Profiled, place: int) -> Json:
    return {
        "label": one.label,
        "entrant_step": one.entrant.step,
        "preset": one.entrant.preset,
        "options": one.entrant.config.changed(),
        "step": one.step,
        "nodes": place,
        "error": one.error,
        "workload": one.workload,
        "profile": None if one.profile is None else profile_to_json(one.profile),
    }


def _nodes(rows: Sequence[tuple[str, str, str, Sequence[str]]]) -> dict[str, StepNode]:
    return {name: StepNode(key, op, tuple(sources)) for name, key, op, sources in rows}


def _variant(row: Mapping[str, Any], steps: Sequence[Mapping[str, StepNode]]) -> Profiled:
    config = from_values(row["options"])
    profile, place = row["profile"], int(row["nodes"])
    return Profiled(
        Entrant(row["label"], row["entrant_step"], config, row["preset"]),
        row["step"],
        None if profile is None else profile_from_json(profile),
        steps[place],
        row["error"],
        row["workload"],
    )


def _with_few_runs(one: Profiled) -> Profiled:
    return one if one.profile is None else replace(one, profile=few_runs(one.profile))


def _measurement(one: Profiled) -> Measurement:
    entrant = one.entrant
    row = Measurement(
        one.label, one.workload, None if entrant.preset else one.step,
        dict(sorted(entrant.config.changed().items())), error=one.error,
    )  # fmt: skip
    if one.profile is None or not one.profile.timeline.runs:
        return row
    profile = one.profile
    first, *later = [run.duration_us for run in profile.timeline.runs]
    verdict = "timed with the runtime's profiler on"
    if profile.profiler is not None and profile.first is not None:
        first, later = profile.first.duration_us, list(profile.profiler.bare_us)
        verdict = "timed without the profiler, in turns with profiled runs"
    return replace(
        row,
        p50_ms=median(later) / 1000 if later else None,
        min_ms=min(later) / 1000 if later else None,
        first_ms=first / 1000,
        create_ms=(profile.timeline.load_us + profile.timeline.create_us) / 1000,
        runs=len(profile.timeline.runs) - 1,
        verdict=verdict,
    )
