"""Predicted times beside measured ones, operator by operator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from studio.cost.prediction.job import PredictedGraph
from studio.timeline.node_times import StepTimes

_LEAST_US = 0.1
"""What is left of a shorter node when the profiler's time is taken off is noise."""

_FEWEST = 3
"""Operators that a rank correlation needs."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One operator that ran.

    Attributes:
        node: id of the first node that it computes.
        name: of that node.
        predicted_us: of all nodes that it computes.
        measured_us: in one steady run, without what the profiler takes.
    """

    node: str
    name: str
    op_type: str
    predicted_us: float
    measured_us: float


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Both, as far as both are known.

    Attributes:
        label: of the variant that was profiled.
        pairs: operators with a predicted and a measured time.
        left_out_us: measured time of operators whose nodes are not known.
        too_short: operators of which the profiler's own time leaves nothing to compare.
    """

    label: str
    pairs: tuple[Pair, ...]
    left_out_us: float = 0.0
    too_short: int = 0

    @property
    def predicted_us(self) -> float:
        """All pairs together."""
        return sum(pair.predicted_us for pair in self.pairs)

    @property
    def measured_us(self) -> float:
        """All pairs together."""
        return sum(pair.measured_us for pair in self.pairs)

    @property
    def ratio(self) -> float:
        """Predicted over measured total; NaN without a measured time."""
        return self.predicted_us / self.measured_us if self.measured_us else math.nan

    @property
    def spearman(self) -> float:
        """Rank correlation of predicted and measured times; NaN for fewer than three."""
        return spearman(
            [pair.predicted_us for pair in self.pairs], [pair.measured_us for pair in self.pairs]
        )


def compared(predicted: PredictedGraph, measured: StepTimes) -> Accuracy:
    """Put what was measured of a step beside its prediction.

    Both are what a node takes in a run without the profiler.

    Args:
        predicted: every node.
        measured: every operator that ran.
    """
    nodes = {node.node: node for node in predicted.nodes}
    pairs: list[Pair] = []
    left_out, too_short = 0.0, 0
    for kernel in measured.kernels:
        known = [nodes[identity] for identity in kernel.nodes if identity in nodes]
        total = sum(node.parts.total_us for node in known)
        if kernel.steady_us < _LEAST_US:
            too_short += 1
        elif known and total > 0:
            first = known[0]
            pairs.append(Pair(first.node, first.name, kernel.op_type, total, kernel.steady_us))
        else:
            left_out += kernel.steady_us
    return Accuracy(measured.label, tuple(pairs), left_out, too_short)


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Rank correlation, ties at their mean rank; NaN for fewer than three, or all equal."""
    if len(first) < _FEWEST:
        return math.nan
    one, other = (np.asarray(_ranks(each)) for each in (first, second))
    if not (one.std() and other.std()):
        return math.nan
    return float(np.corrcoef(one, other)[0, 1])


def _ranks(values: Sequence[float]) -> list[float]:
    """From 0; ties at their mean."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count) - 1
    return (last - (count - 1) / 2)[place].tolist()
