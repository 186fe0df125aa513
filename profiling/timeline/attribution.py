"""Time before against time after, for every node of the source or group merged into one.

Two profiles of two steps of one trace. An operator that ran belongs to nodes of its file
(`profiling.timeline.matching`), those to nodes of the source (provenance). Source nodes that some
operator computes together, before or after, are one row, so that no time is split by a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from optimizer.operators.generated import region_title
from profiling.timeline.balance import own_times
from profiling.timeline.origins import StepNode
from profiling.timeline.profile import Phase, Profile


@dataclass(frozen=True, slots=True)
class Kernel:
    """An operator that ran.

    Attributes:
        op_type: its type; of a generated kernel its region, in words.
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
        return _share([row.before_us for row in self.rows], self.unattributed.before_us)

    @property
    def after_share(self) -> float:
        """Attributed part of the operators' time after."""
        return _share([row.after_us for row in self.rows], self.unattributed.after_us)


def _share(known_us: Iterable[float], unknown_us: float) -> float:
    known = sum(known_us)
    return known / ((known + unknown_us) or 1.0)


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
    return Kernel(
        name, region_title(op_type), time_us, tuple(node.id for node in here), tuple(sources)
    )


def attribute(before: Iterable[Kernel], after: Iterable[Kernel]) -> Attribution:
    """Put what belongs together side by side."""
    from networkx import utils  # takes longer to import than all else here

    sides = (tuple(before), tuple(after))
    groups: Any = cast("Any", utils).UnionFind()
    for kernel in (*sides[0], *sides[1]):
        groups.union(*kernel.sources)
    members: dict[str, list[str]] = {}
    for source in groups:
        members.setdefault(groups[source], []).append(source)
    found: dict[str, tuple[list[Kernel], list[Kernel]]] = {}
    unknown: tuple[list[Kernel], list[Kernel]] = ([], [])
    for side, kernels in enumerate(sides):
        for kernel in kernels:
            head = groups[kernel.sources[0]] if kernel.sources else ""
            (found.setdefault(head, ([], [])) if head else unknown)[side].append(kernel)
    rows = [
        AttributionGroup(tuple(members[head]), tuple(b), tuple(a)) for head, (b, a) in found.items()
    ]
    rows.sort(key=lambda row: (-abs(row.saved_us), -row.before_us))
    return Attribution(tuple(rows), AttributionGroup((), tuple(unknown[0]), tuple(unknown[1])))
