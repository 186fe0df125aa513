"""Edges as the browser draws them: [from id, to id, from port, to port].

Constants are no boxes, so they have no edges. A node with bodies gets an edge from whatever
computes the outputs of its bodies; what a body reads from outside is an edge to the reader.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.model.graph import bodies, node_id
from studio.graphview.records import port_source

Edge = tuple[str, str, int, int]


def into_node(node: ir.Node) -> Iterator[Edge]:
    """The edges that end at a node."""
    me = node_id(node)
    for port, value in enumerate(node.inputs):
        source = port_source(value)
        if source is not None:
            yield source[0], me, source[1], port
    port = len(node.inputs)
    for body in bodies(node):
        for value in body.outputs:
            source = port_source(value)
            if source is not None:
                yield source[0], me, source[1], port
            port += 1


def into_outputs(graph: ir.Graph) -> Iterator[Edge]:
    """The edges that end at the main graph's outputs, `o0`, `o1` and so on."""
    for index, value in enumerate(graph.outputs):
        source = port_source(value)
        if source is not None:
            yield source[0], f"o{index}", source[1], 0
