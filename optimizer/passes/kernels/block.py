"""Operators that belong together: what a runtime runs as one kernel is raced as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.constants import constant_of, is_constant_node
from optimizer.model.graph import bodies, is_used

PRODUCTS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
ACTIVATIONS = frozenset(
    {"Clip", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Relu", "Sigmoid", "Tanh"}
)
_MOST_FOLLOWERS = 3
_SCALES = ("Div", "Mul")


@dataclass(frozen=True, slots=True)
class Block:
    """One operator, or a few that only pass values on to each other.

    Attributes:
        kind: `Attention`, or the operator that gives the block its name.
        nodes: in the order in which they run; only the last one's output is seen outside.
    """

    kind: str
    nodes: tuple[ir.Node, ...]

    @property
    def output(self) -> ir.Value:
        """What the block computes."""
        return self.nodes[-1].outputs[0]

    @property
    def inputs(self) -> tuple[ir.Value, ...]:
        """Values from outside, constants included, in the order of their first use."""
        inside = {output for node in self.nodes for output in node.outputs}
        seen = (value for node in self.nodes for value in node.inputs if value is not None)
        return tuple(dict.fromkeys(value for value in seen if value not in inside))


def blocks_of(graph: ir.Graph) -> list[Block]:
    """Every operator of the main graph in exactly one block; control flow is left out."""
    taken: set[ir.Node] = set()
    found: list[Block] = []
    plain = [n for n in graph if not is_constant_node(n) and next(bodies(n), None) is None]
    for find in (_attention, _product, _alone):
        for node in plain:
            if node in taken:
                continue
            block = find(node)
            if block is not None and not taken.intersection(block.nodes):
                taken.update(block.nodes)
                found.append(block)
    return found


def _alone(node: ir.Node) -> Block | None:
    return Block(node.op_type, (node,)) if len(_used(node)) == 1 else None


def _attention(softmax: ir.Node) -> Block | None:
    """MatMul [scale] [mask] Softmax MatMul around a Softmax over the last axis."""
    if softmax.op_type != "Softmax" or softmax.domain:
        return None
    before = list(_before(softmax))
    last = _only_reader(softmax)
    if not before or before[-1].op_type != "MatMul" or last is None or last.op_type != "MatMul":
        return None
    if last.inputs[0] is not softmax.outputs[0]:
        return None
    return Block("Attention", (*reversed(before), softmax, last))


def _before(softmax: ir.Node) -> Iterator[ir.Node]:
    """Backwards from a Softmax: at most a mask, at most a scale, the product of query and key."""
    value = softmax.inputs[0]
    wanted = ["Add", "Scale"]
    while value is not None and value.producer() is not None and len(value.uses()) == 1:
        node = value.producer()
        if node is None or node.domain or value.is_graph_output():
            return
        if node.op_type == "MatMul":
            yield node
            return
        kind = "Scale" if node.op_type in _SCALES else node.op_type
        if kind not in wanted:
            return
        del wanted[: wanted.index(kind) + 1]
        if kind == "Scale" and constant_of(node.inputs[1]) is None:
            return
        yield node
        value = node.inputs[0]


def _product(anchor: ir.Node) -> Block | None:
    """A convolution or matrix product and what is applied to its result element by element."""
    if anchor.op_type not in PRODUCTS or anchor.domain:
        return None
    nodes = [anchor]
    while len(nodes) <= _MOST_FOLLOWERS:
        follower = _only_reader(nodes[-1])
        if follower is None or not _follows(follower, nodes):
            break
        nodes.append(follower)
        if follower.op_type in ACTIVATIONS:
            break
    return Block(anchor.op_type, tuple(nodes))


def _follows(node: ir.Node, nodes: list[ir.Node]) -> bool:
    if node.domain or len(_used(node)) != 1:
        return False
    others = [value for value in node.inputs if value is not nodes[-1].outputs[0]]
    if node.op_type == "Add":
        # A second addition belongs to somebody else: its operand is often not ready yet.
        return not any(known.op_type == "Add" for known in nodes) and len(others) == 1
    if node.op_type == "BatchNormalization":
        return nodes[0].op_type == "Conv" and len(nodes) == 1
    return node.op_type in ACTIVATIONS and all(
        value is None or constant_of(value) is not None for value in others
    )


def _only_reader(node: ir.Node) -> ir.Node | None:
    used = _used(node)
    if len(used) != 1 or used[0].is_graph_output() or len(used[0].uses()) != 1:
        return None
    reader = next(iter(used[0].uses())).node
    return reader if reader.graph is node.graph else None


def _used(node: ir.Node) -> list[ir.Value]:
    return [value for value in node.outputs if is_used(value)]
