"""What is known about one operator; every other room asks here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from optimizer.operators.call import Array, Call, Content, IndexRule, Typed
from optimizer.operators.loops.site import LoopRule

Category = Literal[
    "conv", "norm", "act", "pool", "shape", "elem", "attn", "control", "quant", "io", "unknown"
]
"""Decides colour and glyph in the viewer."""

Layout = Literal["sensitive", "agnostic", "follows"]
"""What an operator asks of the order of its tensors' axes: one order (`sensitive`), none at all
(`agnostic`), or one order of the same kind, with an axis to be renamed (`follows`)."""

Result = Literal["new", "view", "metadata"]
"""What the first output is: bytes of its own, those of the first input, or something about them."""

Overwrites = Literal["nothing", "first", "any"]
"""Which inputs the first output may replace: element i of it depends on element i alone, or, in a
row that is read before it is written, on the row."""

Precision = Literal["safe", "accumulates", "range-critical"]
"""What happens to an operator in 16 bits: each result is rounded (`safe`), results are sums, which
a kernel has to collect in float32 (`accumulates`), or they leave the range, or a decision hangs on
digits that are gone (`range-critical`)."""

Integer = Literal["keeps", "computes"]
"""What becomes of an operator between quantized values: it works on the integers as they are
(`keeps`), or ONNX Runtime has a kernel that takes them with their scales (`computes`)."""

TypeRule = Callable[[Call], Sequence[Typed]]
ContentRule = Callable[[Call], Sequence[Content]]
Kernel = Callable[[Call], tuple[Array, ...]]
Formula = Callable[[Call], int | None]


class OperatorClass(StrEnum):
    """What kind of work a node is; the value is the display text."""

    DENSE_CONV = "dense convolution"
    POINTWISE_CONV = "pointwise convolution"
    GROUPED_CONV = "grouped convolution"
    DEPTHWISE_CONV = "depthwise convolution"
    GEMM = "matrix product"
    BATCHED_MATMUL = "batched matrix product"
    ATTENTION = "attention"
    RECURRENT = "recurrent"
    ELEMENTWISE = "elementwise"
    TRANSCENDENTAL = "transcendental"
    NORMALIZATION = "normalization"
    SOFTMAX = "softmax"
    REDUCTION = "reduction"
    POOLING = "pooling"
    TRANSPOSE = "transpose"
    BLOCK_TRANSPOSE = "transpose of blocks"
    COPY = "copy"
    GATHER = "gather"
    VIEW = "view"
    CONTROL = "control flow"


ClassRule = Callable[[Call], OperatorClass | None]
"""The class of a node whose shapes decide."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of ONNX or of ONNX Runtime.

    Attributes:
        name: its `op_type`.
        domain: its operator set; empty for ONNX itself.
        category: see `Category`.
        types: types and shapes of the outputs; None where no rule is known.
        contents: elements of small integer outputs.
        kernel: computes the outputs from constants; None for what is not folded.
        any_type: whether the kernel takes element types numpy knows only by extension (bfloat16).
        flops: operations; a multiply-accumulate counts 2. None for one an output element.
        kind: the class, or what tells it from the shapes.
        product: whether it reads much more than it writes.
        random: whether two runs on the same inputs may differ, whatever those are.
        result: see `Result`.
        overwrites: see `Overwrites`.
        commutes: whether its two inputs may be swapped, to the bit.
        unary: whether it works on one tensor, element by element, whatever its shape.
        picks: whether it reads no more than it writes.
        carries: whether its outputs hold numbers of its data input, unchanged.
        shape_inputs: inputs whose elements are sizes, counts or axes.
        decided_by: other inputs whose elements decide the sizes of the outputs.
        indexes: inputs that hold indices, and what they must stay below.
        layout: see `Layout`; None where it was not looked at.
        precision: see `Precision`; None where it was not looked at.
        axes: what the axes of inputs and outputs are, in the order of the signature, where it asks
            for them: `NC* OI* -> NC*`. A star is all spatial axes, `…` those that may be anything,
            `_` says nothing of a tensor.
        integer: see `Integer`; None for one that is computed in floating point.
        loops: how each element is computed; None for what no kernel is generated from.
    """

    name: str = ""
    types: TypeRule | None = None
    contents: ContentRule | None = None
    domain: str = ""
    category: Category = "unknown"
    kernel: Kernel | None = None
    any_type: bool = False
    flops: Formula | None = None
    kind: OperatorClass | ClassRule | None = None
    product: bool = False
    random: bool = False
    result: Result = "new"
    overwrites: Overwrites = "nothing"
    commutes: bool = False
    unary: bool = False
    picks: bool = False
    carries: bool = False
    shape_inputs: tuple[int, ...] = ()
    decided_by: tuple[int, ...] = ()
    indexes: Mapping[int, IndexRule] = field(default_factory=dict[int, IndexRule])
    layout: Layout | None = None
    precision: Precision | None = None
    axes: str = ""
    integer: Integer | None = None
    loops: LoopRule | None = None

    def named(self, name: str, **known: Any) -> Operator:
        """The operator `name`: like this one but for what is given."""
        return replace(self, name=name, **known)

    def each(self, names: str) -> tuple[Operator, ...]:
        """Operators of which the same is known, by their names between spaces."""
        return tuple(self.named(name) for name in names.split())
