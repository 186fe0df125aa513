"""Errors of nodes as an overlay of the viewer: how far a step is from the source, node by node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

import onnx_ir as ir

from optimizer.codec import Format, written_as
from optimizer.model.graph import node_id, walk_nodes
from optimizer.numbers import counted
from optimizer.precision.layers import LayerErrors
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from optimizer.verify.comparison import Comparison
from studio.artifacts.opened import OpenedRun
from studio.overlays import keep_numbers

OVERLAY = "errors"


@dataclass(frozen=True, slots=True)
class NodeError:
    """The worst of a node's outputs.

    Attributes:
        sqnr_db: signal to error; infinite where nothing differs.
        relative_max: the largest difference over the largest magnitude.
        reason: why it is not what it may be; "" where it is.
    """

    sqnr_db: float
    relative_max: float
    reason: str


@dataclass(frozen=True, slots=True)
class NodeErrors:
    """Of a step against the source.

    Attributes:
        label: of how it was measured.
        begins: ids of the node where the error begins, in the source and at the step.
        nodes: by id, of both.
    """

    step: int
    label: str
    begins: tuple[str, ...]
    nodes: Mapping[str, NodeError]


written_as(
    NodeError,
    lambda one: [one.sqnr_db if one.sqnr_db < inf else None, one.relative_max, one.reason],
    lambda row: NodeError(inf if row[0] is None else row[0], row[1], row[2]),
)
ERRORS = Format(NodeErrors, "passlens.errors/1", "errors of nodes")
LEAST_DB = -300.0
"""Below, nothing of the signal is left, and no more is said."""


def keep_errors(run: OpenedRun, errors: NodeErrors) -> None:
    """Leave them where the viewer finds them."""
    keep_numbers(run, OVERLAY, ERRORS.to_json(errors))


def node_errors(
    files: TraceFiles, step: int, found: LayerErrors, *, matches: Mapping[str, str] | None = None
) -> NodeErrors:
    """Errors of values as those of the nodes that compute them; for a worker process.

    Args:
        files: of the run.
        step: whose model was compared with the source's.
        found: what came of it.
        matches: as `layer_errors` was given them.

    Raises:
        StudioError: as `graph_at`.
    """
    values = {value.name: value for value in found.values}
    renamed = {there: name for name, there in (matches or {}).items()}
    first = found.first
    errors: dict[str, NodeError] = {}
    begins: dict[str, None] = {}
    with trace_cursor(files) as cursor:
        for at, names in ((0, {}), (step, renamed)):
            for identity, made in _made(cursor.seek(at).graph, names, values):
                errors.setdefault(identity, _worst(made))
                if first is not None and first in made:
                    begins[identity] = None
    kind = "generated input" if found.generated else "sample"
    label = f"step {step} against the source, {counted(found.samples, kind)}"
    return NodeErrors(step, label, tuple(begins), errors)


def _made(
    graph: ir.Graph, names: Mapping[str, str], values: Mapping[str, Comparison]
) -> Iterator[tuple[str, list[Comparison]]]:
    """Nodes of which a value was compared."""
    for node in walk_nodes(graph):
        called = [names.get(output.name or "", output.name or "") for output in node.outputs]
        made = [values[name] for name in called if name in values]
        if made:
            yield node_id(node), made


def _worst(made: list[Comparison]) -> NodeError:
    worst = min(made, key=lambda value: (value.ok, value.sqnr_db))
    return NodeError(max(LEAST_DB, worst.sqnr_db), worst.scaled, worst.reason)
