"""What ONNX Runtime makes part of a product or a convolution by itself, on a CPU at level `all`.

Nothing is gained where these are taken from it: an activation costs a product nothing, a transpose
or a factor in front of one is read as it is, and what works on blocks of channels needs no other
layout. A bias that it makes a Gemm of is not among them: a Gemm writes it into its result first and
then adds to that, which takes as long as an Add (3136x96 times 96x384: 2.7 ms without, 3.5 with;
196x384 times 384x1536: 2.35 and 2.6; one AVX-512 core), and a kernel behind it has it for nothing.
Source: ONNX Runtime 1.31, gemm.cc, matmul_add_fusion.cc, gemm_activation_fusion.cc,
conv_activation_fusion.cc, matmul_transpose_fusion.cc, matmul_scale_fusion.cc, nchwc_transformer.cc.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.constants import constant_of

BLOCKED = frozenset(
    {"Conv", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool", "BatchNormalization",
     "Resize", "Concat", "Add", "Sum", "Mul", "Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid",
     "Clip"}
)  # fmt: skip
"""What ONNX Runtime's NchwcTransformer leaves in blocks of channels."""

_AFTER_CONV = frozenset({"Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "Clip"})
AFTER_GEMM = frozenset(
    {"Elu", "HardSigmoid", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh",
     "ThresholdedRelu"}
)  # fmt: skip
_BLOCK = 16
_SMALLEST_BLOCK = 8


def joined_by_runtime(graph: ir.Graph) -> Mapping[ir.Node, str]:
    """Nodes that end inside another operator, each with the reason; products left out.

    Args:
        graph: with types and shapes.
    """
    found: dict[ir.Node, str] = {}
    gemms: set[ir.Node] = set()
    blocks: set[ir.Value] = set()
    for node in graph:
        if node.domain:
            continue
        if node.op_type == "Gemm":
            gemms.add(node)
        reason = _follows(node, gemms) or _precedes(node) or _stays_blocked(node, blocks)
        if reason and node.op_type != "Conv":
            found[node] = reason
    return found


def _follows(node: ir.Node, gemms: set[ir.Node]) -> str:
    """What works on the result of a product, which nobody else reads."""
    for index, value in enumerate(node.inputs):
        maker = None if value is None else value.producer()
        if value is None or maker is None or maker.domain:
            continue
        if len(value.uses()) > 1 or value.is_graph_output():
            continue
        if maker.op_type == "Conv" and not index and node.op_type in _AFTER_CONV:
            return "ONNX Runtime computes it inside the Conv before"
        if maker in gemms and not index and node.op_type in AFTER_GEMM:
            return "ONNX Runtime computes it inside the Gemm before"
        if maker.op_type != "MatMul":
            continue
        if node.op_type == "Add" and _is_bias(maker, node.inputs[1 - index]):
            gemms.add(node)
            continue
        if _scales(node, index):
            return "ONNX Runtime scales inside the MatMul before"
    return ""


def _is_bias(product: ir.Node, bias: ir.Value | None) -> bool:
    """Whether MatMul and Add become a Gemm, with Reshapes around it where sizes are numbers."""
    left, right = (None if value is None else value.shape for value in product.inputs)
    if left is None or right is None or bias is None or bias.shape is None or len(right) != 2:
        return False
    if len(left) != 2 and not all(isinstance(size, int) for size in left):
        return False
    sizes = [*bias.shape]
    row = sizes == [right[1]] or (len(left) == 2 and sizes == [1, right[1]])
    return row or (len(left) == 2 and len(sizes) == 2 and sizes == [left[0], right[1]])


def _scales(node: ir.Node, index: int) -> bool:
    """Whether it multiplies an input by one constant number."""
    if node.op_type not in ("Mul", "Div") or len(node.inputs) != 2:
        return False
    if node.op_type == "Div" and index:
        return False
    factor = constant_of(node.inputs[1 - index])
    return factor is not None and factor.size == 1 and node.outputs[0].dtype == ir.DataType.FLOAT


def _precedes(node: ir.Node) -> str:
    """What only products read, and could read as it was before."""
    value = node.outputs[0] if len(node.outputs) == 1 else None
    if value is None or value.is_graph_output() or not value.uses():
        return ""
    readers = [use.node for use in value.uses()]
    if any(reader.op_type != "MatMul" or reader.domain for reader in readers):
        return ""
    if node.op_type == "Transpose" and _folds(node):
        return "ONNX Runtime transposes inside the MatMul that reads it"
    if any(_scales(node, index) for index in range(len(node.inputs))):
        return "ONNX Runtime scales inside the MatMul that reads it"
    return ""


def _folds(node: ir.Node) -> bool:
    """Whether the last two axes change places, or the first one goes before the last."""
    perm = node.attributes.get("perm")
    order = [] if perm is None else [*perm.as_ints()]
    rank = len(order)
    swapped = [*range(rank - 2), rank - 1, rank - 2]
    return rank > 1 and order in (swapped, [*range(1, rank - 1), 0, rank - 1])


def _stays_blocked(node: ir.Node, blocks: set[ir.Value]) -> str:
    """What takes and gives images in blocks of channels; `blocks` are those so far."""
    if node.op_type not in BLOCKED:
        return ""
    if node.op_type == "Conv":
        if _is_blocked(node):
            blocks.add(node.outputs[0])
        return ""
    data = node.inputs if node.op_type in ("Add", "Sum", "Mul", "Concat") else node.inputs[:1]
    if not data or any(value not in blocks for value in data):
        return ""
    blocks.add(node.outputs[0])
    return "ONNX Runtime computes it in the blocks of channels that a Conv gives"


def _is_blocked(conv: ir.Node) -> bool:
    """Whether a Conv over images works on blocks of channels; its weights are constant then."""
    weights = constant_of(conv.inputs[1])
    if weights is None or weights.dtype != ir.DataType.FLOAT or len(weights.shape) != 4:
        return False
    made, read = (int(size) for size in weights.shape.numpy()[:2])
    group = conv.attributes.get("group")
    if group is not None and group.as_int() > 1:
        return made % _BLOCK == 0 and (read == 1 or read % _BLOCK == 0)
    return made % _BLOCK == 0 and (read < _SMALLEST_BLOCK or read % 4 == 0)
