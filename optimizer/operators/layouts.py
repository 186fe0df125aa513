"""Operators of other layouts than ONNX has: functions that Passlens itself writes.

`TransData` and `TransDataBack` convert between NCHW and blocks of channels, [N, C1, H, W, C0].
`Nhwc<Name>` and `Blocked<Name>` are the standard operator `<Name>` over data of these layouts; what
else it reads is as ever. Their bodies (`optimizer.model.own_functions`) run anywhere; a compiler
has a kernel in place of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.operators import flops, movement, normalization, windows
from optimizer.operators.call import Call, Fact, Shape, Typed, in_numbers
from optimizer.operators.operator import Operator, OperatorClass

LAYOUTS = "passlens.layout"
"""Their domain."""

NHWC, BLOCKED = "Nhwc", "Blocked"
BLOCKS = "NC1*C0"
"""How `Operator.axes` writes an image in blocks of channels."""

WRAPPED = (
    "Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool",
    "GlobalMaxPool", "LRN", "BatchNormalization", "InstanceNormalization", "Resize",
    "DepthToSpace", "SpaceToDepth",
)  # fmt: skip
"""Operators over images that ask for NCHW: first input and first output are the image."""

_STANDARD = {
    operator.name: operator
    for group in (windows, normalization, movement)
    for operator in group.OPERATORS
    if not operator.domain
}
_Move = Callable[[Call, Sequence[Dimension]], Shape]


def _blocks(call: Call, shape: Sequence[Dimension]) -> Shape:
    """[N, C, H, W] as [N, C1, H, W, C0]."""
    outer, inner = call.numbers("blocks") or (0, 0)
    return (shape[0], outer, *shape[2:], inner)


def _unblocked(call: Call, shape: Sequence[Dimension]) -> Shape:
    return (shape[0], *(call.numbers("channels") or (0,)), *shape[2:-1])


def _last(call: Call, shape: Sequence[Dimension]) -> Shape:
    del call
    return (shape[0], *shape[2:], shape[1])


def _first(call: Call, shape: Sequence[Dimension]) -> Shape:
    del call
    return (shape[0], shape[-1], *shape[1:-1])


def _converted(call: Call, move: _Move) -> list[Typed]:
    shape = call.shape(0)
    return [(call.dtype(0), None if shape is None else move(call, shape))]


def _trans_data(call: Call) -> list[Typed]:
    """X[N, C, H, W]: Y[N, C1, H, W, C0], channels filled up with zeros."""
    return _converted(call, _blocks)


def _trans_data_back(call: Call) -> list[Typed]:
    """X[N, C1, H, W, C0]: Y[N, C, H, W]."""
    return _converted(call, _unblocked)


def _wrapped(inner: Operator, axes: str, into: _Move, back: _Move) -> Operator:
    """The standard operator over images of another layout.

    Args:
        inner: what it is of standard images.
        axes: of an image in the layout; of blocks those that are filled up are computed, too.
        into: the shape of an image in the layout.
        back: the standard shape.
    """

    def standard(call: Call) -> Call:
        data, outs = call.node.inputs[0], call.node.outputs

        def known(value: ir.Value) -> Fact:
            place = next((i for i, out in enumerate(outs) if out is value), None)
            if place is not None:
                dtype, shape = inner_types(call)[place]
                return Fact(dtype, in_numbers(shape))
            fact = call.known(value)
            if value is not data or fact.shape is None:
                return fact
            return replace(fact, shape=back(call, fact.shape))

        return Call(call.node, known, opset=call.opset, slices_fit=call.slices_fit)

    def inner_types(call: Call) -> Sequence[Typed]:
        return [] if inner.types is None else inner.types(standard(call))

    def types(call: Call) -> list[Typed]:
        (dtype, shape), *_ = inner_types(call)
        if shape is None or None in shape:
            return [(dtype, None)]
        return [(dtype, into(call, [size for size in shape if size is not None]))]

    def operations(call: Call) -> int | None:
        formula = inner.flops or flops.per_element
        count = formula(standard(call))
        return round(count * _filling(call, standard(call))) if count and axes == BLOCKS else count

    kind = inner.kind
    return replace(
        inner,
        domain=LAYOUTS,
        types=types,
        flops=operations,
        kind=kind if kind is None or isinstance(kind, OperatorClass) else _kind(kind, standard),
        axes=(inner.axes or "NC* -> NC*").replace("NC*", axes),
        overwrites="nothing",
        shape_inputs=(),
        indexes={},
    )


def _kind(
    rule: Callable[[Call], OperatorClass | None], standard: Callable[[Call], Call]
) -> Callable[[Call], OperatorClass | None]:
    return lambda call: rule(standard(call))


def _filling(call: Call, standard: Call) -> float:
    """How many times as many multiplications it takes for the channels that are filled up."""
    outer, inner = call.numbers("blocks") or (0, 0)
    made, read = standard.result(), standard.sizes(0)
    if made is None or read is None or not made[1] or not read[1]:
        return 1.0
    more = outer * inner / made[1]
    dense = call.node.op_type == f"{BLOCKED}Conv" and call.number("group", 1) == 1
    return more * (-(-read[1] // inner) * inner / read[1]) if dense else more


_MOVING = Operator(
    domain=LAYOUTS, category="shape", flops=flops.moving, kind=OperatorClass.TRANSPOSE,
    carries=True, layout="sensitive",
)  # fmt: skip

OPERATORS = (
    _MOVING.named("TransData", types=_trans_data, axes=f"NC* -> {BLOCKS}"),
    _MOVING.named("TransDataBack", types=_trans_data_back, axes=f"{BLOCKS} -> NC*"),
    *(_wrapped(_STANDARD[n], "N*C", _last, _first).named(f"{NHWC}{n}") for n in WRAPPED),
    *(_wrapped(_STANDARD[n], BLOCKS, _blocks, _unblocked).named(f"{BLOCKED}{n}") for n in WRAPPED),
)
