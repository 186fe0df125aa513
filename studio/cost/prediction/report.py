"""What a prediction says about an open run: every step's total, and every node of one step."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.codec import Format
from optimizer.cost.predict import NodePrediction


@dataclass(frozen=True, slots=True)
class PredictedSteps:
    """A whole trace on one device.

    Attributes:
        before_ns: of the source.
        after_ns: of the last step; where launches depend on how cold the caches are, not quite
            what all changes lead to.
        changes_ns: what each step added, step 1 first; negative where it saved.
        unknown: nodes without a prediction, before and after.
    """

    before_ns: int
    after_ns: int
    changes_ns: tuple[int, ...]
    unknown: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class PredictedGraph:
    """One step on one device.

    Attributes:
        step: of the trace.
        nodes: with a prediction, in list order.
        details: of each, what tells it from others of its operator: `3×3 /2 → 1×64×56×56`.
        unknown: how many others there are.
        assumed: the sizes taken for free dimensions.
    """

    step: int
    nodes: tuple[NodePrediction, ...]
    details: tuple[str, ...]
    unknown: int = 0
    assumed: tuple[tuple[str, int], ...] = ()

    @property
    def total_us(self) -> float:
        """All nodes, one after the other."""
        return sum(node.parts.total_us for node in self.nodes)

    @property
    def launch_us(self) -> float:
        """The part of it that is launches."""
        return sum(node.parts.emit_us for node in self.nodes)


STEPS_FORM = Format(PredictedSteps, "passlens.predicted-steps/3", "prediction of a trace")
GRAPH_FORM = Format(PredictedGraph, "passlens.predicted-nodes/2", "prediction of a step")
