"""What a prediction says about an open run: every step's total, and every node of one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from typing import Any

from optimizer.cost.classes import OperatorClass
from optimizer.cost.node import Cost
from optimizer.cost.predict import GraphPrediction, NodePrediction, Parts

STEPS_SCHEMA = "passlens.predicted-steps/2"
NODES_SCHEMA = "passlens.predicted-nodes/1"


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


def steps_json(found: PredictedSteps) -> dict[str, Any]:
    """As JSON."""
    return {"schema": STEPS_SCHEMA, **asdict(found)}


def steps_from_json(data: Mapping[str, Any]) -> PredictedSteps:
    """What `steps_json` wrote."""
    before, after = data["unknown"]
    changes = tuple(data["changes_ns"])
    return PredictedSteps(data["before_ns"], data["after_ns"], changes, (before, after))


def graph_json(found: GraphPrediction, step: int, details: Mapping[str, str]) -> dict[str, Any]:
    """A step as JSON; `details` by node id."""
    return {
        "schema": NODES_SCHEMA,
        "step": step,
        "nodes": [_row(node) for node in found.nodes],
        "details": [details.get(node.node, "") for node in found.nodes],
        "unknown": len(found.unknown),
        "assumed": sorted(found.assumed.items()),
    }


def graph_from_json(data: Mapping[str, Any]) -> PredictedGraph:
    """What `graph_json` wrote."""
    return PredictedGraph(
        data["step"],
        tuple(_node(*row) for row in data["nodes"]),
        tuple(data["details"]),
        data["unknown"],
        tuple((name, size) for name, size in data["assumed"]),
    )


def _row(node: NodePrediction) -> list[Any]:
    cost, parts = node.cost, node.parts
    return [
        [node.node, node.name, node.op_type, node.kind.name],
        [cost.flops, cost.bytes_read, cost.bytes_written, cost.weight_bytes],
        astuple(parts),
        node.rate,
    ]


def _node(names: list[str], cost: list[int], parts: list[float], rate: float) -> NodePrediction:
    identity, name, operator, kind = names
    return NodePrediction(
        identity, name, operator, OperatorClass[kind], Cost(*cost), Parts(*parts), rate
    )
