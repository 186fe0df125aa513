"""What a step does that touches no node: it merges copies of weights, or drops unread ones."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir

from optimizer.rewrite.edits import DropInitializer
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.trace import Rewrite
from studio.graphview.text import cut, dims_text, dtype_name

MOST_LISTED = 4
Weight = tuple[str, str, str, int]
"""Name, element type, shape, bytes."""


def dropped_weights(state: GraphState, rewrite: Rewrite) -> dict[str, Any] | None:
    """The weights that a step drops, and the one that takes their place; None where nodes change.

    Args:
        state: of the graph, which stands before the rewrite.
        rewrite: the step.
    """
    edits = [edit for edit in rewrite.edits if isinstance(edit, DropInitializer)]
    if not edits or rewrite.added or rewrite.removed:
        return None
    dropped = [_weight(state.value(edit.value)) for edit in edits]
    kept = [_weight(state.value(new)) for new in rewrite.values.values()]
    return {
        "count": len(dropped),
        "bytes": sum(weight[3] for weight in dropped),
        "dropped": dropped[:MOST_LISTED],
        "kept": kept[0] if kept else None,
    }


def _weight(value: ir.Value | None) -> Weight:
    tensor = value.const_value if value is not None else None
    if value is None or tensor is None:
        return ("", "", "", 0)
    return (cut(value.name or ""), dtype_name(tensor.dtype), dims_text(tensor.shape), tensor.nbytes)
