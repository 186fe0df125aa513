"""Floating-point operations of each operator, from its shapes.

A multiply-accumulate counts 2 and every other elementary operation 1, whatever it costs a machine
(a fused operator counts what its parts count, so that fusing changes traffic and not arithmetic).
Moving data counts 0. Formulas name the shapes they use; `out` is the number of output elements.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import onnx_ir as ir

from optimizer.cost.sizes import Sizes
from optimizer.model.operators.call import CONTRIB


class Operation:
    """A node with its shapes in numbers."""

    __slots__ = ("_sizes", "node")

    def __init__(self, node: ir.Node, sizes: Sizes) -> None:
        self.node = node
        self._sizes = sizes

    def shape(self, index: int) -> tuple[int, ...] | None:
        """The shape of an input."""
        return self._sizes.shape(self.node.inputs[index]) if self.has(index) else None

    def has(self, index: int) -> bool:
        """Whether the input is there."""
        return index < len(self.node.inputs) and self.node.inputs[index] is not None

    def count(self, index: int = 0) -> int | None:
        """Elements of an input."""
        shape = self.shape(index)
        return None if shape is None else prod(shape)

    def out(self) -> int | None:
        """Elements of the first output."""
        return self._sizes.elements(self.node.outputs[0])

    def result(self, index: int) -> tuple[int, ...] | None:
        """The shape of an output."""
        outputs = self.node.outputs
        return self._sizes.shape(outputs[index]) if index < len(outputs) else None

    def number(self, name: str, default: int) -> int:
        """An integer attribute."""
        attribute = self.node.attributes.get(name)
        return default if attribute is None or attribute.is_ref() else int(attribute.value)

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        attribute = self.node.attributes.get(name)
        return default if attribute is None or attribute.is_ref() else str(attribute.value)


Formula = Callable[[Operation], int | None]
FORMULAS: dict[tuple[str, str], Formula] = {}


def formula(*operators: str, domain: str = "") -> Callable[[Formula], Formula]:
    """Register a formula under the names of its operators."""

    def register(function: Formula) -> Formula:
        FORMULAS.update({(domain, operator): function for operator in operators})
        return function

    return register


def _times(factor: int, count: int | None) -> int | None:
    return None if count is None else factor * count


def per_element(operation: Operation) -> int | None:
    """out: one operation for each element of the output."""
    return operation.out()


def _fixed(factor: int) -> Formula:
    return lambda operation: _times(factor, operation.out())


def _moving(operation: Operation) -> int:
    return 0


_OPERATIONS_PER_ELEMENT = {
    # scale and shift with precomputed constants
    "BatchNormalization": 2,
    # mean, subtract, square, mean, divide by the root, scale, shift
    "LayerNormalization": 7, "InstanceNormalization": 7, "GroupNormalization": 7,
    # square, mean, divide by the root, scale
    "RMSNormalization": 4, "SimplifiedLayerNormalization": 4,
    # maximum, subtract, exponential, sum, divide
    "Softmax": 5, "LogSoftmax": 5, "Hardmax": 2,
    # 0.5 * x * (1 + erf(x / sqrt 2))
    "Gelu": 5,
    # divide, round, add the zero point; subtract the zero point, multiply
    "QuantizeLinear": 3, "DequantizeLinear": 2,
    # x * sigmoid(x); x * clip(x / 6 + 0.5)
    "Swish": 2, "HardSwish": 4, "HardSigmoid": 3, "Mish": 3,
}  # fmt: skip
_CONTRIB_PER_ELEMENT = {
    "BiasGelu": 6, "FastGelu": 8, "Gelu": 5, "QuickGelu": 3, "LayerNormalization": 7,
    "SimplifiedLayerNormalization": 4, "SkipLayerNormalization": 8,
    "SkipSimplifiedLayerNormalization": 5, "RotaryEmbedding": 3, "QLinearAdd": 3, "QLinearMul": 3,
    "QLinearSigmoid": 3, "QLinearLeakyRelu": 3, "EmbedLayerNormalization": 9, "GroupNorm": 7,
    "SkipGroupNorm": 8, "QuantizeLinear": 3, "DequantizeLinear": 2,
}  # fmt: skip
_MOVING = (
    "Cast", "CastLike", "Compress", "Concat", "ConstantOfShape", "DepthToSpace", "Expand",
    "EyeLike", "Gather", "GatherElements", "GatherND", "NonZero", "OneHot", "Pad", "Range",
    "ReverseSequence", "Scatter", "ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Split",
    "TensorScatter", "Tile", "Transpose", "Trilu", "Where",
)  # fmt: skip

FORMULAS.update({("", name): _fixed(count) for name, count in _OPERATIONS_PER_ELEMENT.items()})
FORMULAS.update({(CONTRIB, name): _fixed(n) for name, n in _CONTRIB_PER_ELEMENT.items()})
FORMULAS.update(dict.fromkeys((("", name) for name in _MOVING), _moving))


@formula(
    "ArgMax", "ArgMin", "CumSum", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "ReduceMax",
    "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "TopK",
)  # fmt: skip
def per_input_element(operation: Operation) -> int | None:
    """in: every element is looked at once."""
    return operation.count()


@formula("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare", "LpNormalization")
def two_per_input_element(operation: Operation) -> int | None:
    """2 * in: every element is transformed and added."""
    return _times(2, operation.count())


@formula("ReduceLogSumExp", "DynamicQuantizeLinear", "MeanVarianceNormalization")
def five_per_input_element(operation: Operation) -> int | None:
    """5 * in."""
    return _times(5, operation.count())


@formula("Sum", "Mean", "Max", "Min")
def variadic(operation: Operation) -> int | None:
    """(inputs - 1) * out, Mean divides as well."""
    operands = len(operation.node.inputs)
    return _times(operands - (operation.node.op_type != "Mean"), operation.out())


@formula("MatMul", "MatMulInteger", "QLinearMatMul")
@formula("MatMulIntegerToFloat", "DynamicQuantizeMatMul", domain=CONTRIB)
@formula("FusedMatMul", domain=CONTRIB)
def matmul(operation: Operation) -> int | None:
    """2 * out * K, A[…, M, K] (K second to last where A is transposed)."""
    left = operation.shape(0)
    if not left:
        return None
    transposed = operation.number("transA", 0) and len(left) > 1
    return _times(2 * left[-2 if transposed else -1], operation.out())


@formula("MatMulNBits", domain=CONTRIB)
def matmul_n_bits(operation: Operation) -> int | None:
    """2 * out * K; unpacking is not counted."""
    return _times(2 * operation.number("K", 0), operation.out())


@formula("Gemm")
@formula("FusedGemm", domain=CONTRIB)
def gemm(operation: Operation) -> int | None:
    """2 * out * K, and out for the bias."""
    left = operation.shape(0)
    if left is None or len(left) != 2:
        return None
    inner = left[0 if operation.number("transA", 0) else 1]
    return _times(2 * inner + operation.has(2), operation.out())


@formula("Conv", "ConvInteger")
@formula("FusedConv", "NhwcFusedConv", domain=CONTRIB)
def conv(operation: Operation) -> int | None:
    """2 * out * (C/group * kernel), W[M, C/group, kernel…], and out for the bias."""
    return _conv(operation, weights=1, bias=operation.has(2))


@formula("QLinearConv")
def quantized_conv(operation: Operation) -> int | None:
    """As Conv, with w at input 3 and the bias at 8."""
    return _conv(operation, weights=3, bias=operation.has(8))


def _conv(operation: Operation, *, weights: int, bias: bool) -> int | None:
    kernel = operation.shape(weights)
    return None if kernel is None else _times(2 * prod(kernel[1:]) + bias, operation.out())


@formula("ConvTranspose")
def conv_transpose(operation: Operation) -> int | None:
    """2 * in * (M/group * kernel), W[C, M/group, kernel…], and out for the bias."""
    kernel, count, out = operation.shape(1), operation.count(), operation.out()
    if kernel is None or count is None or out is None:
        return None
    return 2 * count * prod(kernel[1:]) + operation.has(2) * out


@formula("AveragePool", "MaxPool", "LpPool")
def pool(operation: Operation) -> int | None:
    """Out * kernel."""
    kernel = operation.node.attributes.get("kernel_shape")
    return None if kernel is None else _times(prod(kernel.as_ints()), operation.out())


@formula("LRN")
def local_response_normalization(operation: Operation) -> int | None:
    """Out * (2*size + 3): squares and sums over the window, then scale, power, divide."""
    return _times(2 * operation.number("size", 1) + 3, operation.out())


@formula("Resize", "Upsample")
def resize(operation: Operation) -> int | None:
    """Nearest moves only; linear 2*2^d and cubic 2*4^d for each output, d spatial axes."""
    mode, shape = operation.text("mode", "nearest"), operation.shape(0)
    if mode == "nearest" or shape is None:
        return None if shape is None else 0
    taps = 4 if mode == "cubic" else 2
    return _times(2 * taps ** max(len(shape) - 2, 1), operation.out())


@formula("Einsum")
def einsum(operation: Operation) -> int | None:
    """2 * product of all letters' sizes; 1 * for a single operand."""
    terms = operation.text("equation", "").replace(" ", "").split("->")[0].split(",")
    sizes: dict[str, int] = {}
    for index, letters in enumerate(terms):
        shape = operation.shape(index)
        if shape is None or len(shape) != len(letters):
            return None
        for letter, size in zip(letters, shape, strict=True):
            sizes[letter] = max(size, sizes.get(letter, 1))
    return (2 if len(terms) > 1 else 1) * prod(sizes.values())


@formula("LSTM", "GRU", "RNN")
def recurrent(operation: Operation) -> int | None:
    """2 * seq*batch*directions * gates*hidden * (in + hidden), the gates' own arithmetic left out.

    X[seq, batch, in], W[directions, gates*hidden, in], R[directions, gates*hidden, hidden].
    """
    data, weights, recurrence = (operation.shape(index) for index in range(3))
    if data is None or weights is None or recurrence is None:
        return None
    return 2 * data[0] * data[1] * (prod(weights) + prod(recurrence))


@formula("Attention")
def attention(operation: Operation) -> int | None:
    """2 * batch*heads*q*k * (d + dv) for the two products and 5 * batch*heads*q*k for the softmax.

    Q[batch, heads, q, d] or Q[batch, q, heads*d], with as many keys as K and the past have.
    """
    query, key, value = (operation.shape(index) for index in range(3))
    if query is None or key is None or value is None:
        return None
    past = operation.shape(4)
    keys = key[-2] + (past[-2] if past else 0)
    heads = query[1] if len(query) == 4 else operation.number("q_num_heads", 1)
    batch, queries = query[0], query[-2]
    width = query[-1] if len(query) == 4 else query[-1] // heads
    kv_heads = operation.number("kv_num_heads", heads)
    value_width = value[-1] if len(value) == 4 else value[-1] // max(kv_heads, 1)
    return batch * heads * queries * keys * (2 * (width + value_width) + 5)


@formula("MultiHeadAttention", domain=CONTRIB)
def multi_head_attention(operation: Operation) -> int | None:
    """As Attention: query[batch, q, hidden], key[batch, k, hidden] or [batch, heads, k, d]."""
    query, key, value = (operation.shape(index) for index in range(3))
    if query is None or key is None or value is None or len(query) != 3:
        return None
    heads = operation.number("num_heads", 1)
    past = operation.shape(6)
    keys = key[-2] + (past[-2] if past else 0)
    value_hidden = value[-1] if len(value) == 3 else value[1] * value[-1]
    return query[0] * query[1] * keys * (2 * (query[2] + value_hidden) + 5 * heads)


@formula("GroupQueryAttention", domain=CONTRIB)
def group_query_attention(operation: Operation) -> int | None:
    """As Attention, over the keys of the present cache [batch, kv_heads, k, d] (output 1)."""
    query, present = operation.shape(0), operation.result(1)
    if query is None or present is None or not operation.has(1):
        return None
    heads = operation.number("num_heads", 1)
    return query[0] * query[1] * present[-2] * (4 * query[2] + 5 * heads)


@formula("Attention", domain=CONTRIB)
def packed_attention(operation: Operation) -> int | None:
    """2 * batch*seq * in*3*hidden for the projection, then as Attention over the same sequence."""
    data, weights = operation.shape(0), operation.shape(1)
    if data is None or weights is None or len(data) != 3:
        return None
    batch, seq, _ = data
    hidden = weights[1] // 3
    heads = operation.number("num_heads", 1)
    return batch * seq * (2 * prod(weights) + weights[1] + seq * (4 * hidden + 5 * heads))
