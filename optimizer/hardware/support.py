"""What a device lacks of a graph, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.errors import quoted
from optimizer.findings import Finding
from optimizer.hardware.meaning import means_the_same
from optimizer.hardware.profile import HardwareProfile, Support
from optimizer.model.graph import node_id, walk_nodes
from optimizer.numbers import counted
from optimizer.operators.catalogue import STANDARD
from optimizer.operators.layouts import LAYOUTS

_PLACES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class MissingOperator:
    """Nodes of one operator that a device does not have.

    Attributes:
        operator: its type; `domain::Type` outside ONNX's own.
        nodes: ids of the nodes, in their order.
        places: their names, where they have one, else their ids.
        lack: what the device lacks, in words.
        why: why they were not lowered.
    """

    operator: str
    nodes: tuple[str, ...]
    places: tuple[str, ...]
    lack: str
    why: str

    def finding(self) -> Finding:
        """For people."""
        shown = ", ".join(quoted(place) for place in self.places[:_PLACES_SHOWN])
        more = f" and {len(self.places) - _PLACES_SHOWN} more" * (len(self.places) > _PLACES_SHOWN)
        return Finding(
            "warning",
            f"{counted(len(self.nodes), 'node')} {self.operator}",
            f"{self.lack}: {shown}{more}.",
            f"{self.why}.",
        )


def operator_name(node: ir.Node) -> str:
    """A node's type as profiles write it."""
    return node.op_type if node.domain in STANDARD else f"{node.domain}::{node.op_type}"


def lack(node: ir.Node, profile: HardwareProfile, opset: int) -> str:
    """What a device lacks to run a node, in words; empty if it has it.

    Args:
        node: a node of the model.
        profile: what the device has.
        opset: the version of ONNX's operators that the model imports.
    """
    if is_constant_node(node) or (node.domain == LAYOUTS and profile.layout != "NCHW"):
        return ""  # an operator in the device's own layout stands only where it has it
    name = operator_name(node)
    if not profile.has(name):
        return f"{profile.title} has no {name}"
    of_onnx = node.domain in STANDARD
    if (
        of_onnx
        and 0 < profile.opset < opset
        and not means_the_same(node, now=opset, then=profile.opset)
    ):
        return f"{profile.title} takes {name} as it was in opset {profile.opset}"
    reasons = [_unfit(node, support) for support in profile.operators.get(name, ())]
    if not reasons or "" in reasons:
        return ""
    return f"{profile.title} has {name} {reasons[0]}"


def _unfit(node: ir.Node, support: Support) -> str:
    """Why one way to have an operator does not fit a node; empty if it does."""
    made = node.outputs[0].dtype
    if support.types and made is not None and made.name.lower() not in support.types:
        return f"not for {made.name.lower()}"
    first = next((value for value in node.inputs if value is not None), None)
    rank = None if first is None or first.shape is None else len(first.shape)
    if support.ranks and rank is not None and not support.ranks[0] <= rank <= support.ranks[1]:
        return f"for rank {support.ranks[0]} to {support.ranks[1]} alone, not {rank}"
    for name, bound in support.attributes.items():
        attribute = node.attributes.get(name)
        if attribute is not None and not bound.admits(attribute.value):
            return f"with {name} {bound} alone, not {attribute.value}"
    return ""


def missing(
    graph: ir.Graph, profile: HardwareProfile, why: Mapping[str, str] | None = None
) -> tuple[MissingOperator, ...]:
    """What a device lacks of a graph, most frequent first.

    Args:
        graph: with its bodies.
        profile: what the device has.
        why: reasons why a node was not lowered, by its id; those of a trace.
    """
    reasons = why or {}
    opset = graph.opset_imports.get("", 0)
    found: dict[tuple[str, str, str], list[ir.Node]] = {}
    for node in walk_nodes(graph):
        if lacking := lack(node, profile, opset):
            reason = reasons.get(node_id(node), "There is no lowering for it")
            found.setdefault((operator_name(node), lacking, reason), []).append(node)
    groups = [
        MissingOperator(
            operator,
            tuple(map(node_id, nodes)),
            tuple(node.name or node_id(node) for node in nodes),
            lacking,
            reason[:1].upper() + reason[1:],
        )
        for (operator, lacking, reason), nodes in found.items()
    ]
    return tuple(sorted(groups, key=lambda group: -len(group.nodes)))
