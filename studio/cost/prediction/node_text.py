"""What a node is called in figures and tables of predicted time."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.cost.sizes import Sizes
from studio.graphview.text import TIMES, brief, cut

_MOST_BRIEF = 40


def detail_of(node: ir.Node, sizes: Sizes) -> str:
    """What the viewer writes beside an operator, and the size of what it makes."""
    made = f"→ {shape_of(node.outputs[0], sizes)}" if node.outputs else ""
    return " ".join(filter(None, (cut(brief(node), _MOST_BRIEF), made)))


def shape_of(value: ir.Value, sizes: Sizes) -> str:
    """Its sizes: `1×64×56×56`."""
    shape = sizes.shape(value)
    return "?" if shape is None else TIMES.join(map(str, shape)) or "scalar"
