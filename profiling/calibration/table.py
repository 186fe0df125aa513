"""Which micro models are measured, class by class.

Sizes are those at which a class shows its pace: small enough for the second-level cache, except
where the memory behind it is the question. None is taken from a network that the benchmark of the
cost model runs.
"""

from __future__ import annotations

from optimizer.operators.call import CONTRIB
from profiling.calibration.micro import Micro, Shape

BANDWIDTH, LAUNCH, PACKING = "bandwidth", "launch", "packing"
OWN = "own"
"""For an operator that is unlike its class: its pace is none of theirs."""


_ELEMENTS = (256, 128)


def micros(footprints: tuple[int, ...]) -> tuple[Micro, ...]:
    """All of them; `footprints` are the bytes that those for bandwidth stream through."""
    return (
        Micro("Add", ((1,), (1,)), purpose=LAUNCH),
        *_convolutions(),
        *_products(),
        *_elementwise(),
        *_rows(),
        *_pooling(),
        *_unlike(),
        *_moving(),
        *_memory(footprints),
    )


def _convolutions() -> list[Micro]:
    dense = [_conv(filters, 128, 28, 3) for filters in (16, 64, 256)]
    pointwise = [_conv(filters, 256, 28, 1) for filters in (16, 64, 256)]
    grouped = [_conv(8 * filters, 8 * filters, 28, 3, groups=8) for filters in (4, 16)]
    depthwise = [_conv(128, 128, size, 3, groups=128) for size in (7, 14, 28, 56)]
    return [*dense, *pointwise, *grouped, *depthwise]


def _conv(filters: int, channels: int, size: int, kernel: int, groups: int = 1) -> Micro:
    attributes = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4, "group": groups}
    weights = (filters, channels // groups, kernel, kernel)
    return Micro("Conv", ((1, channels, size, size),), (weights,), attributes=attributes)


def _products() -> list[Micro]:
    rows = [Micro("MatMul", ((rows, 512),), ((512, 512),)) for rows in (1, 4, 16, 64, 256)]
    shapes = ((128, 8), (60, 16), (60, 32), (124, 64))
    batched = [Micro("MatMul", ((8, rows, inner), (8, inner, rows))) for rows, inner in shapes]
    packing = [
        Micro("MatMul", ((16, inner), (inner, columns)), purpose=PACKING)
        for inner, columns in ((64, 64), (256, 256))
    ]
    return [*rows, *batched, *packing]


def _elementwise() -> list[Micro]:
    unary = (
        "Abs", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "HardSwish", "LeakyRelu",
        "Log", "Neg", "Reciprocal", "Relu", "Round", "Sigmoid", "Sin", "Softplus", "Sqrt", "Tanh",
    )  # fmt: skip
    binary = ("Add", "Div", "Equal", "Greater", "Max", "Min", "Mul", "PRelu", "Pow", "Sub", "Sum")
    found = [Micro(operator, (_ELEMENTS,)) for operator in unary]
    found += [Micro(operator, (_ELEMENTS, _ELEMENTS)) for operator in binary]
    found += [Micro("Pow", (_ELEMENTS,), ((1,),), constant=2.0)]
    found += [
        Micro(operator, (_ELEMENTS,), domain=CONTRIB)
        for operator in ("FastGelu", "Gelu", "QuickGelu")
    ]
    found += [Micro("Where", (_ELEMENTS,) * 3)]
    found += [Micro("Cast", (_ELEMENTS,), attributes={"to": 7})]
    found += [Micro("Clip", (_ELEMENTS,), ((), ()), constant=1.0)]
    found += [
        Micro(
            "Resize",
            ((1, 32, 14, 14),),
            ((0,), (0,)),
            integers=((1, 32, 28, 28),),
            attributes={"mode": mode},
        )
        for mode in ("nearest", "linear")
    ]
    found += [
        Micro("Add", ((2048 * 16 // span, span), (2048 * 16 // span, 1)))
        for span in (4, 16, 64, 512)
    ]
    found += [Micro("Add", ((4096, 1),), ((),))]
    return found


def _rows() -> list[Micro]:
    layer = [Micro("LayerNormalization", ((r, n),), ((n,), (n,))) for r, n in _ROWS]
    batch = [
        Micro("BatchNormalization", ((1, c, size, size),), ((c,), (c,), (c,), (c,)))
        for c, size in ((512, 7), (128, 16), (32, 32))
    ]
    instance = [
        Micro("InstanceNormalization", ((1, c, size, size),), ((c,), (c,)))
        for c, size in ((512, 7), (32, 32))
    ]
    softmax = [Micro("Softmax", (shape,)) for shape in _ROWS]
    reduce = [Micro("ReduceMean", (shape,), attributes={"axes": [-1]}) for shape in _ROWS]
    return [*layer, *batch, *instance, *softmax, *reduce]


_ROWS: tuple[Shape, ...] = ((2048, 16), (512, 64), (128, 256), (32, 1024))


def _pooling() -> list[Micro]:
    windows = ((2, 2), (3, 2), (3, 1))
    found = [
        Micro(operator, ((1, 64, 56, 56),), attributes={"kernel_shape": [k, k], "strides": [s, s]})
        for operator in ("MaxPool", "AveragePool")
        for k, s in windows
    ]
    found += [
        Micro("AveragePool", ((1, c, size, size),), attributes={"kernel_shape": [size, size]})
        for c, size in ((512, 7), (128, 16))
    ]
    found += [Micro("GlobalAveragePool", ((1, c, s, s),)) for c, s in ((512, 7), (128, 16))]
    return found


def _unlike() -> list[Micro]:
    images: tuple[Shape, ...] = ((1, 32, 28, 28), (1, 32, 56, 56))
    found = [Micro("LRN", (shape,), attributes={"size": 5}, purpose=OWN) for shape in images]
    found += [
        Micro(operator, (shape,), attributes={"axis": -1}, purpose=OWN)
        for operator in ("ArgMax", "ArgMin")
        for shape in _ROWS
    ]
    found += [Micro("CumSum", (_ELEMENTS,), integers=(1,), purpose=OWN)]
    return found


def _moving() -> list[Micro]:
    elements: tuple[Shape, ...] = ((64, 256), (256, 512), (512, 2048), (1024, 4096))
    found = [Micro("Transpose", (shape,), attributes={"perm": [1, 0]}) for shape in elements]
    blocks: tuple[Shape, ...] = ((64, 64, 4), (64, 64, 16), (32, 32, 64), (16, 16, 512))
    found += [Micro("Transpose", (shape,), attributes={"perm": [1, 0, 2]}) for shape in blocks]
    for rows, run in ((1024, 16), (256, 128), (16, 4096)):
        shape = (rows, run)
        found += [
            Micro("Concat", (shape, shape), attributes={"axis": 1}),
            Micro("Split", ((rows, 2 * run),), attributes={"axis": 1}, outputs=2),
            Micro("Slice", ((rows, 2 * run),), integers=((0,), (run,), (1,))),
            Micro("Expand", ((rows, 1, run),), integers=((rows, 2, run),)),
            Micro("Pad", (shape,), integers=((0, 4, 0, 4),)),
            Micro("Gather", (shape,), integers=(tuple(range(0, rows, 2)),)),
        ]
    return found


def _memory(footprints: tuple[int, ...]) -> list[Micro]:
    """One operand and two: what is read and what is written can be told apart."""
    streams: list[Micro] = []
    for footprint in footprints:
        shape = (footprint // 12,)
        streams += [
            Micro("Neg", (shape,), purpose=BANDWIDTH),
            Micro("Add", (shape, shape), purpose=BANDWIDTH),
        ]
    return streams
