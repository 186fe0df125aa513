"""Where the nodes of a step come from: the worker's part of reading a trace for profiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.model.graph import node_id, walk_nodes
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from optimizer.rewrite.provenance import FateKind, Provenance


@dataclass(frozen=True, slots=True)
class StepNode:
    """A node of a step's file.

    Attributes:
        id: the same in every step in which it stands.
        sources: ids of the source's nodes it was made from, Constants left out.
    """

    id: str
    op_type: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceNode:
    """A node of the source.

    Attributes:
        fate: what became of it by the end of the trace.
    """

    name: str
    op_type: str
    fate: FateKind


@dataclass(frozen=True, slots=True)
class Origins:
    """The families of a trace's nodes.

    Attributes:
        source: nodes of the source by id.
        steps: for each step asked for its nodes by their name in the file; Constants left out.
    """

    source: Mapping[str, SourceNode]
    steps: Mapping[int, Mapping[str, StepNode]]


def origins_of(files: TraceFiles, steps: tuple[int, ...]) -> Origins:
    """Read the families of the nodes of some steps.

    Args:
        files: a trace and the model of its step 0.
        steps: each from 0 to the last.

    Raises:
        TraceError: there is no such step.
    """
    with trace_cursor(files) as cursor:
        family = Provenance(cursor.trace)
        nodes = [node for node in walk_nodes(cursor.seek(0).graph) if not is_constant_node(node)]
        first = {
            node_id(node): SourceNode(
                node.name or "", node.op_type, family.fate(node_id(node)).kind
            )
            for node in nodes
        }
        found: dict[int, dict[str, StepNode]] = {}
        for step in sorted(set(steps)):
            found[step] = {
                node.name or "": _step_node(node, family, first, step=step)
                for node in walk_nodes(cursor.seek(step).graph)
                if not is_constant_node(node)
            }
    return Origins(first, found)


def _step_node(
    node: ir.Node, family: Provenance, first: Mapping[str, SourceNode], *, step: int
) -> StepNode:
    identity = node_id(node)
    sources = tuple(origin for origin in family.origins(identity, step=step) if origin in first)
    return StepNode(identity, node.op_type, sources)
