"""Outputs that may differ from run to run: those that depend on a random operator."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.model.graph import bodies, walk_nodes
from optimizer.operators.catalogue import is_random


def random_outputs(model: ir.Model) -> frozenset[str]:
    """Names of the graph outputs that depend on a random operator, also inside bodies."""
    random_functions = {
        identifier
        for identifier, function in model.functions.items()
        if any(is_random(node) for node in function)
    }
    tainted: set[ir.Value] = set()
    for node in model.graph:
        inside = [node, *(inner for body in bodies(node) for inner in walk_nodes(body))]
        if any(
            is_random(inner)
            or inner.op_identifier() in random_functions
            or any(value in tainted for value in inner.inputs if value is not None)
            for inner in inside
        ):
            tainted.update(node.outputs)
    return frozenset(value.name or "" for value in model.graph.outputs if value in tainted)
