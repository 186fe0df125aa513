"""Time before against time after, for every node of the source or group merged into one.

Two profiles of two steps of one trace. An operator that ran belongs to nodes of its file
(`profiling.timeline.matching`), those to nodes of the source (provenance). Source nodes that some
operator computes together, before or after, are one row, so that no time is split by a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from profiling.timeline.balance import own_times
from profiling.timeline.origins import StepNode
from profiling.timeline.profile import Phase, Profile


@dataclass(frozen=True, slots=True)
class Kernel:
    """An operator that ran.

    Attributes:
        time_us: its own, in one run.
        nodes: ids of the nodes of its step that it computes.
        sources: ids of the source's nodes those come from.
    """

    name: str
    op_type: str
    time_us: float
    nodes: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttributionGroup:
    """Source nodes that belong together, and the operators that compute them.

    Attributes:
        sources: ids; empty in the row of what could not be attributed.
    """

    sources: tuple[str, ...]
    before: tuple[Kernel, ...]
    after: tuple[Kernel, ...]

    @property
    def before_us(self) -> float:
        """Time of all operators before, in one run."""
        return sum(kernel.time_us for kernel in self.before)

    @property
    def after_us(self) -> float:
        """Time of all operators after, in one run."""
        return sum(kernel.time_us for kernel in self.after)

    @property
    def saved_us(self) -> float:
        """How much less it is after; negative where it is more."""
        return self.before_us - self.after_us


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where the time went, and where it went before.

    Attributes:
        rows: what changed most first.
        unattributed: operators whose source is not known.
    """

    rows: tuple[AttributionGroup, ...]
    unattributed: AttributionGroup

    @property
    def before_share(self) -> float:
        """Attributed part of the operators' time before."""
        known = sum(row.before_us for row in self.rows)
        return known / ((known + self.unattributed.before_us) or 1.0)

    @property
    def after_share(self) -> float:
        """Attributed part of the operators' time after."""
        known = sum(row.after_us for row in self.rows)
        return known / ((known + self.unattributed.after_us) or 1.0)


def kernels_of(profile: Profile, nodes: Mapping[str, StepNode], phase: Phase) -> list[Kernel]:
    """The operators of one run with their own times.

    Args:
        profile: of a step.
        nodes: of that step, by their name in the file.
        phase: which run to look at.
    """
    run = profile.run(phase)
    if run is None:
        return []
    times: dict[str, float] = {}
    ops: dict[str, str] = {}
    for event, own_us in zip(run.events, own_times(run), strict=True):
        times[event.node] = times.get(event.node, 0.0) + own_us
        ops[event.node] = event.op_type
    return [_kernel(name, ops[name], own_us, profile, nodes) for name, own_us in times.items()]


def _kernel(
    name: str, op_type: str, time_us: float, profile: Profile, nodes: Mapping[str, StepNode]
) -> Kernel:
    here = [nodes[node] for node in profile.kernels.get(name, ()) if node in nodes]
    sources = dict.fromkeys(source for node in here for source in node.sources)
    return Kernel(name, op_type, time_us, tuple(node.id for node in here), tuple(sources))


def attribute(before: Iterable[Kernel], after: Iterable[Kernel]) -> Attribution:
    """Put what belongs together side by side."""
    sides = (tuple(before), tuple(after))
    groups = _Groups()
    for kernel in (*sides[0], *sides[1]):
        groups.join(kernel.sources)
    found: dict[str, tuple[list[Kernel], list[Kernel]]] = {}
    unknown: tuple[list[Kernel], list[Kernel]] = ([], [])
    for side, kernels in enumerate(sides):
        for kernel in kernels:
            head = groups.head(kernel.sources[0]) if kernel.sources else ""
            (found.setdefault(head, ([], [])) if head else unknown)[side].append(kernel)
    members = groups.members()
    rows = [AttributionGroup(members[head], tuple(b), tuple(a)) for head, (b, a) in found.items()]
    rows.sort(key=lambda row: (-abs(row.saved_us), -row.before_us))
    return Attribution(tuple(rows), AttributionGroup((), tuple(unknown[0]), tuple(unknown[1])))


class _Groups:
    """Disjoint sets of source nodes."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def head(self, source: str) -> str:
        self._above.setdefault(source, source)
        while (above := self._above[source]) != source:
            self._above[source] = self._above[above]
            source = self._above[source]
        return source

    def join(self, sources: tuple[str, ...]) -> None:
        for source in sources:
            self._above[self.head(source)] = self.head(sources[0])

    def members(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for source in list(self._above):
            found.setdefault(self.head(source), []).append(source)
        return {head: tuple(sources) for head, sources in found.items()}
