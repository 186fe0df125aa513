"""Measured segments as bars: one a segment, or those of a pass together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import Literal

from profiling.worth.levels import Change, Span
from profiling.worth.measured import Measured

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
    change: Change
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
