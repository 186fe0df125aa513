"""From the cost of the source to the cost of the optimized graph, bar by bar.

On paper nothing is uncertain: every step knows what it changed, so the bars add up exactly.
Measured, a bar is a segment between two cuts, or those of a pass together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp
from typing import Literal

from profiling.worth.levels import Span, Speedup
from profiling.worth.measured import Measured

Metric = Literal["nodes", "flops", "bytes", "predicted"]
By = Literal["pass", "rule", "step"]

METRICS: tuple[Metric, ...] = ("nodes", "flops", "bytes")
"""What every trace knows; predicted time needs a device as well."""


@dataclass(frozen=True, slots=True)
class StepCost:
    """One rewrite and what it changed.

    Attributes:
        step: from 1.
        pass_id: whose rewrite it was.
        rule: of that pass; the region of a generated kernel where it writes one.
        delta: what it added, negative where it saved, by metric.
    """

    step: int
    pass_id: str
    rule: str
    delta: Mapping[Metric, int]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: rewrites that belong together.

    Attributes:
        pass_id: all of them are of this pass.
        rule: and of this rule; empty where the pass's rules are together.
        steps: which, in order.
        change: what they added together, negative where they saved.
    """

    pass_id: str
    rule: str
    steps: tuple[int, ...]
    change: int


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The whole way down.

    Attributes:
        metric: what is counted; "flops" are operations, "bytes" are read and written, "predicted"
            are nanoseconds of one run, rounded node by node.
        before: of the source graph.
        after: of the optimized graph.
        bars: in the order in which they first fired.
    """

    metric: Metric
    before: int
    after: int
    bars: tuple[Bar, ...]

    @property
    def elsewhere(self) -> int:
        """What is left when all bars are added up.

        Of what is counted 0, or the trace and its totals disagree; of predicted time what nodes
        gain that no rewrite touched, for their launches find other caches.
        """
        return self.after - self.before - sum(bar.change for bar in self.bars)

    @property
    def strongest(self) -> Bar | None:
        """The bar that saved most; None where nothing saved."""
        saving = [bar for bar in self.bars if bar.change < 0]
        return min(saving, key=lambda bar: bar.change) if saving else None


def waterfall(
    steps: Iterable[StepCost],
    totals: Mapping[Metric, Sequence[int]],
    *,
    metric: Metric,
    by: By = "pass",
) -> Waterfall:
    """Group the steps into bars.

    Args:
        steps: of one trace, in order.
        totals: before and after, by metric.
        metric: what to count.
        by: one bar a pass, a rule, or a step.
    """
    groups: dict[tuple[str, str, int], list[StepCost]] = {}
    for step in steps:
        rule = "" if by == "pass" else step.rule
        number = step.step if by == "step" else 0
        groups.setdefault((step.pass_id, rule, number), []).append(step)
    bars = tuple(
        Bar(pass_id, rule, tuple(s.step for s in group), sum(s.delta[metric] for s in group))
        for (pass_id, rule, _), group in groups.items()
    )
    before, after = totals[metric]
    return Waterfall(metric, before, after, bars)


def pass_boundaries(steps: Sequence[StepCost]) -> tuple[int, ...]:
    """Step 0, every step after which another pass goes on, and the last step."""
    ends = [a.step for a, b in pairwise(steps) if a.pass_id != b.pass_id]
    return (0, *ends, *(step.step for step in steps[-1:]))


MeasuredBy = Literal["pass", "cut"]


@dataclass(frozen=True, slots=True)
class MeasuredBar:
    """Steps that belong together.

    Attributes:
        passes: whose steps they are, in order; several where no cut was made between them.
        spans: the steps, as spans between cut points.
        change: what they did together; the logarithms of all bars add up to the total.
        saved_ms: what that is in milliseconds where the bar stands, negative if it got slower;
            the milliseconds of all bars add up as well.
    """

    passes: tuple[str, ...]
    spans: tuple[Span, ...]
    change: Speedup
    saved_ms: float

    @property
    def steps(self) -> tuple[int, ...]:
        """All steps."""
        return tuple(step for first, last in self.spans for step in range(first + 1, last + 1))


def measured_bars(
    measured: Measured, pass_ids: Sequence[str], *, by: MeasuredBy = "pass"
) -> tuple[MeasuredBar, ...]:
    """The bars in the order in which their steps first come.

    Args:
        measured: at least one race.
        pass_ids: of every step of the trace, step 1 first.
        by: all segments of the same passes together, or every segment by itself.
    """
    groups: dict[tuple[object, ...], list[Span]] = {}
    for segment in measured.segments:
        names = tuple(dict.fromkeys(pass_ids[step - 1] for step in segment.steps))
        key = names if by == "pass" else (*names, segment.span)
        groups.setdefault(key, []).append(segment.span)
    bars: list[MeasuredBar] = []
    level_ms = measured.source_ms
    for key, spans in groups.items():
        change = measured.levels.change(*spans)
        saved_ms = level_ms * (1 - exp(-change.log))
        names = tuple(name for name in key if isinstance(name, str))
        bars.append(MeasuredBar(names, tuple(spans), change, saved_ms))
        level_ms -= saved_ms
    return tuple(bars)
