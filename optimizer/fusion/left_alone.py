"""Why a node is in no region that becomes a kernel, where the plan itself says nothing of it."""

from __future__ import annotations

from typing import cast

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.cost.classes import MATRIX, operator_class
from optimizer.cost.sizes import Sizes
from optimizer.fusion.work import is_candidate, work_of
from optimizer.operators.call import Known
from optimizer.operators.catalogue import operator_of


def why_left(node: ir.Node, known: Known, sizes: Sizes) -> str:
    """One clause about a node that no plan names: its operator, its sizes, or that it is alone.

    Args:
        node: of the graph itself, not of a body.
        known: what is known of the graph's values.
        sizes: of its free dimensions.
    """
    kind, name = operator_class(node, sizes), node.op_type
    if is_constant_node(node):
        return "it is a constant, and nothing is computed"
    if operator_of(node) is None:
        return f"nothing is known of {name} of the domain {node.domain}"
    work = None
    if is_candidate(node):
        opset = cast("ir.Graph", node.graph).opset_imports.get("", 1)
        work = work_of(node, known, opset, sizes)
    if work is None and kind in MATRIX:
        return f"{name} is a {kind}, which ONNX Runtime's own library computes"
    if not is_candidate(node):
        return f"there are no loops for {name}"
    if work is None:
        return "the rank of what it reads or gives is known only when the model runs"
    return (
        "alone it is no slower in ONNX Runtime, and nothing beside it goes over the same elements"
    )
