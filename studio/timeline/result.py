"""What came out of profiling variants, and its recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median

from optimizer.codec import written_as
from profiling.records import Measurement
from profiling.timeline.attribution import Attribution, Kernel, attribute, kernels_of
from profiling.timeline.finding import few_runs, finding
from profiling.timeline.origins import SourceNode, StepNode
from profiling.timeline.profile import Phase, Profile
from profiling.timeline.profile_json import profile_from_json, profile_to_json
from studio.experiment import TimedReport, report_format
from studio.variants.variant import TraceVariant


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

    variant: TraceVariant
    step: int
    profile: Profile | None
    nodes: Mapping[str, StepNode]
    error: str = ""
    workload: str = ""

    @property
    def label(self) -> str:
        """The variant's."""
        return self.variant.label

    def kernels(self, phase: Phase) -> list[Kernel]:
        """The operators that ran; none without a profile."""
        return [] if self.profile is None else kernels_of(self.profile, self.nodes, phase)


@dataclass(frozen=True, slots=True)
class ProfileReport(TimedReport):
    """What came out.

    Attributes:
        source: nodes of the source by id.
        runs: made of each variant; a recording may have kept fewer.
    """

    variants: tuple[Profiled, ...]
    source: Mapping[str, SourceNode]
    runs: int = 0

    @property
    def profiles(self) -> dict[str, Profile]:
        """The profiles there are, by label."""
        return {one.label: one.profile for one in self.variants if one.profile is not None}

    def attribution(self, before: str, after: str, phase: Phase) -> Attribution:
        """Two variants' times, by the source's nodes."""
        named = {one.label: one for one in self.variants}
        return attribute(named[before].kernels(phase), named[after].kernels(phase))

    @property
    def title(self) -> str:
        """The finding, one line."""
        return finding(self.profiles, "steady")

    def measurements(self) -> list[Measurement]:
        """A row for each variant; none where nothing ran."""
        return list(map(_measurement, self.variants)) if self.profiles else []


def with_few_runs(report: ProfileReport) -> ProfileReport:
    """With those runs alone that figures are drawn from."""
    return replace(report, variants=tuple(map(_with_few_runs, report.variants)))


written_as(Profile, profile_to_json, profile_from_json)
written_as(
    StepNode,
    lambda node: [node.id, node.op_type, node.sources],
    lambda row: StepNode(row[0], row[1], tuple(row[2])),
)
written_as(
    SourceNode,
    lambda node: [node.name, node.op_type, node.fate],
    lambda row: SourceNode(*row),
)
PROFILE_REPORT = report_format(ProfileReport, "profile", version=2)


def _with_few_runs(one: Profiled) -> Profiled:
    return one if one.profile is None else replace(one, profile=few_runs(one.profile))


def _measurement(one: Profiled) -> Measurement:
    variant = one.variant
    row = Measurement(
        one.label, one.workload, None if variant.preset else one.step,
        dict(sorted(variant.config.changed().items())), error=one.error,
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
