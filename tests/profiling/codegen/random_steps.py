"""What random regions are made of: each step adds a node or two of operators that have loops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tests.optimizer.random_graphs import BOOL, FLOAT, HALF, INT, Shape, Wire
from tests.profiling.codegen.random_regions import (
    FLOATS,
    INT32,
    WHOLE,
    RegionSketch,
    Step,
    together,
)

NUMBERS = FLOATS | WHOLE
_REST = 2**31 - 1

_BOUNDED: Mapping[str, float] = {
    "Sigmoid": 1, "Tanh": 1, "Erf": 1, "Softsign": 1, "HardSigmoid": 1, "Sin": 1, "Cos": 1,
}  # fmt: skip
_LIKE_INPUT = (
    "Neg", "Abs", "Relu", "HardSwish", "Softplus", "Elu", "Celu", "Selu", "LeakyRelu", "Mish",
    "Gelu",
)  # fmt: skip
_EXACT = ("Neg", "Abs", "Relu", "Floor", "Ceil", "Round", "Sign")


def smooth(s: RegionSketch) -> Wire | None:
    """A function that makes a small difference of a small difference."""
    x, op_type = s.a(FLOATS, below=50), s.pick((*_BOUNDED, *_LIKE_INPUT))
    if x is None or (op_type == "Gelu" and s.opset < 20):
        return None
    largest = _BOUNDED.get(op_type, 2 * s.largest[x.name] + 1)
    return s.made(op_type, [x], x.shape, largest)


def exponential(s: RegionSketch) -> Wire | None:
    x = s.a(FLOATS, below=4)
    return None if x is None else s.made("Exp", [x], x.shape, 55)


def of_positive(s: RegionSketch) -> Wire | None:
    """A root, a logarithm or a reciprocal of |x| + 0.5."""
    x = s.a(FLOATS)
    if x is None:
        return None
    positive = _away_from_zero(s, x)
    return s.made(s.pick(("Sqrt", "Log", "Reciprocal")), [positive], x.shape, 25)


def _away_from_zero(s: RegionSketch, x: Wire) -> Wire:
    size = s.made("Abs", [x], x.shape, s.largest[x.name])
    return s.made("Add", [size, s.number(0.5, x.dtype)], x.shape, s.largest[x.name] + 1)


def rounded(s: RegionSketch) -> Wire | None:
    x = s.a(FLOATS, exact=True)
    if x is None:
        return None
    return s.made(s.pick(_EXACT), [x], x.shape, s.largest[x.name] + 1, exact=True)


def arithmetic(s: RegionSketch) -> Wire | None:
    """Two values broadcast together, or one and a constant."""
    x = s.a(NUMBERS, below=200)
    if x is None:
        return None
    y = s.number(s.pick((0.5, 2, 3, -1.25)), x.dtype) if s.flip() else s.beside(x, below=200)
    if y is None:
        return None
    op_type = s.pick(("Add", "Sub", "Mul", "Max", "Min"))
    one, other = s.largest[x.name], s.largest.get(y.name, 3.0)
    shape = together(x.shape, y.shape) or x.shape
    operands = [x, y] if s.flip() else [y, x]
    exact = op_type in ("Max", "Min") and {x.name, y.name} <= {*s.exact, y.name}
    exact = exact and (y.name in s.exact or y.name not in s.largest)
    return s.made(op_type, operands, shape, one * other if op_type == "Mul" else one + other,
                  exact=exact, dtype=x.dtype)  # fmt: skip


def quotient(s: RegionSketch) -> Wire | None:
    x = s.a(FLOATS)
    y = None if x is None else s.beside(x)
    if x is None or y is None:
        return None
    shape = together(x.shape, y.shape)
    assert shape is not None, "it was chosen so"
    return s.made("Div", [x, _away_from_zero(s, y)], shape, 2 * s.largest[x.name])


def whole_quotient(s: RegionSketch) -> Wire | None:
    x = s.a(WHOLE)
    if x is None:
        return None
    by = s.number(s.pick((1, 2, 3, 7, -3)), x.dtype)
    return s.made(s.pick(("Div", "Mod")), [x, by], x.shape, s.largest[x.name] + 7)


def power(s: RegionSketch) -> Wire | None:
    x = s.a(FLOATS, below=8)
    if x is None:
        return None
    exponent = s.number(s.pick((1, 2, 3)), x.dtype)
    return s.made("Pow", [x, exponent], x.shape, 512)


def clipped(s: RegionSketch) -> Wire | None:
    x = s.a(NUMBERS)
    if x is None:
        return None
    limits = [s.number(-1, x.dtype), s.number(2, x.dtype) if s.flip() else None]
    exact = x.name in s.exact
    return s.made("Clip", [x, *limits], x.shape, s.largest[x.name] + 2, exact=exact)


def compared(s: RegionSketch) -> Wire | None:
    x = s.a(NUMBERS, exact=True)
    if x is None:
        return None
    fitting = [w for w in s.wires if w.dtype == x.dtype and w.name in s.exact]
    y = s.pick(fitting)
    shape = together(x.shape, y.shape)
    if shape is None:
        return None
    op_type = s.pick(("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"))
    return s.made(op_type, [x, y], shape, 1, dtype=BOOL)


def logic(s: RegionSketch) -> Wire | None:
    x = s.a(frozenset({BOOL}))
    y = None if x is None else s.beside(x)
    if x is None or y is None:
        return None
    if s.flip():
        return s.made("Not", [x], x.shape, 1)
    shape = together(x.shape, y.shape)
    assert shape is not None, "it was chosen so"
    return s.made(s.pick(("And", "Or", "Xor")), [x, y], shape, 1)


def chosen(s: RegionSketch) -> Wire | None:
    """Where."""
    condition, x = s.a(frozenset({BOOL})), s.a(NUMBERS)
    y = None if x is None else s.beside(x)
    if condition is None or x is None or y is None:
        return None
    inner = together(x.shape, y.shape)
    shape = None if inner is None else together(condition.shape, inner)
    if shape is None:
        return None
    exact = {x.name, y.name} <= s.exact
    largest = max(s.largest[x.name], s.largest[y.name])
    return s.made("Where", [condition, x, y], shape, largest, exact=exact, dtype=x.dtype)


def cast(s: RegionSketch) -> Wire | None:
    to = s.pick((FLOAT, HALF, INT, INT32, BOOL))
    x = s.a(exact=to not in FLOATS)
    if x is None or (x.dtype, to) == (HALF, FLOAT):
        return None  # the runtime computes float16 in float32, and may not round in between
    return s.made("Cast", [x], x.shape, s.largest[x.name], exact=x.name in s.exact, dtype=to, to=to)


def reduction(s: RegionSketch) -> Wire | None:
    x = s.a(NUMBERS, below=6)
    if x is None or not x.shape:
        return None
    floats = ("ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp")
    whole = ("ReduceSum", "ReduceMax", "ReduceMin")
    op_type = s.pick((*whole, *(floats if x.dtype in FLOATS else ())))
    axes: list[int] = sorted({s.pick(range(len(x.shape))) for _ in range(s.pick((1, 1, 2)))})
    # Of nothing the runtime's mean is 0, that of NumPy and of loops NaN.
    if op_type == "ReduceMean" and not all(_is_some(x.shape[axis]) for axis in axes):
        return None
    kept = s.pick((0, 1))
    shape = [1 if a in axes else d for a, d in enumerate(x.shape) if kept or a not in axes]
    held = op_type in ("ReduceMax", "ReduceMin", "ReduceMean")
    grown = s.largest[x.name] if held else 36 * 70.0 ** len(axes)
    exact = x.name in s.exact and op_type in ("ReduceMax", "ReduceMin")
    names = s.ints(*axes)
    return s.made(op_type, [x, names], tuple(shape), grown, exact=exact, keepdims=kept)


def _is_some(size: int | str) -> bool:
    return isinstance(size, int) and size > 0


def softmax(s: RegionSketch) -> Wire | None:
    x = s.a(FLOATS, below=30)
    if x is None or not x.shape:
        return None
    axis = s.pick(range(-len(x.shape), len(x.shape)))
    log = s.flip()
    return s.made("LogSoftmax" if log else "Softmax", [x], x.shape, 70 if log else 1, axis=axis)


def normalization(s: RegionSketch) -> Wire | None:
    """LayerNormalization; an epsilon that keeps rows of equal numbers from being torn apart."""
    x = s.a(FLOATS, below=100)
    if x is None or not x.shape or not isinstance(x.shape[-1], int):
        return None
    scale = s.number(0.5, x.dtype, (x.shape[-1],))
    shift = s.number(-1, x.dtype, (x.shape[-1],)) if s.flip() else None
    operands = [x, scale, *([shift] if shift else [])]
    return s.made("LayerNormalization", operands, x.shape, 200, epsilon=0.1)


def by_channel(s: RegionSketch) -> Wire | None:
    """Normalizations of channels first."""
    x = s.some(lambda w: w.dtype == FLOAT and w.rank >= 3 and isinstance(w.shape[1], int))
    if x is None or s.largest[x.name] > 100 or not x.shape[1]:
        return None
    channels = int(x.shape[1])
    scale, shift = (s.number(one, FLOAT, (channels,)) for one in (0.5, -1))
    # ONNX Runtime 1.31 crashes in InstanceNormalization of images without a pixel.
    if s.flip() and all(isinstance(size, int) and size for size in x.shape[2:]):
        return s.made("InstanceNormalization", [x, scale, shift], x.shape, 50, epsilon=0.1)
    mean, variance = (s.number(one, FLOAT, (channels,)) for one in (0.25, 1))
    return s.made("BatchNormalization", [x, scale, shift, mean, variance], x.shape, 300)


def transposed(s: RegionSketch) -> Wire | None:
    x = s.a()
    if x is None or not x.shape:
        return None
    left = list(range(len(x.shape)))
    perm = [left.pop(s.pick(range(len(left)))) for _ in x.shape]
    return s.moved("Transpose", [x], tuple(x.shape[a] for a in perm), perm=perm)


def reshaped(s: RegionSketch) -> Wire | None:
    """Two axes joined, one parted, or all in one."""
    x = s.a()
    if x is None or not x.shape:
        return None
    way = s.pick(("flat", "join", "part"))
    last = x.shape[-1]
    if way == "flat":
        sizes: list[int] = [-1]
        shape: Shape = (_product(s, x.shape),)
    elif way == "join" and len(x.shape) > 1:
        sizes, shape = [*[0] * (x.rank - 2), -1], (*x.shape[:-2], _product(s, x.shape[-2:]))
    elif isinstance(last, int) and last and last % 2 == 0:
        sizes, shape = [*[0] * (x.rank - 1), 2, last // 2], (*x.shape[:-1], 2, last // 2)
    else:
        sizes, shape = [*[0] * x.rank, 1], (*x.shape, 1)
    return s.moved("Reshape", [x, s.ints(*sizes)], shape)


def _product(s: RegionSketch, shape: Shape) -> int | str:
    sizes = [size for size in shape if size != 1]
    if all(isinstance(size, int) for size in sizes):
        return int(np.prod([int(size) for size in sizes], dtype=np.int64))
    return sizes[0] if len(sizes) == 1 else s.unknown()


def one_more_axis(s: RegionSketch) -> Wire | None:
    x = s.some(lambda wire: wire.rank < 4)
    if x is None:
        return None
    axis: int = s.pick(range(len(x.shape) + 1))
    y = s.moved("Unsqueeze", [x, s.ints(axis)], (*x.shape[:axis], 1, *x.shape[axis:]))
    if s.flip():
        return y
    sizes = [1] * y.rank
    sizes[axis] = 3
    shape = tuple(3 if a == axis else d for a, d in enumerate(y.shape))
    return s.moved(s.pick(("Expand", "Tile")), [y, s.ints(*sizes)], shape)


def repeated(s: RegionSketch) -> Wire | None:
    x = s.a()
    if x is None or not x.shape:
        return None
    axis: int = s.pick(range(len(x.shape)))
    times = [2 if a == axis else 1 for a in range(x.rank)]
    shape = tuple(_times(s, d, 2) if a == axis else d for a, d in enumerate(x.shape))
    return s.moved("Tile", [x, s.ints(*times)], shape)


def _times(s: RegionSketch, size: int | str, count: int) -> int | str:
    return size * count if isinstance(size, int) else s.unknown()


def cut(s: RegionSketch) -> Wire | None:
    """A Slice: from behind, backwards, in steps, beyond the ends."""
    x = s.a()
    if x is None or not x.shape:
        return None
    axis: int = s.pick(range(len(x.shape)))
    start, end, step = s.pick(
        ((1, _REST, 1), (0, -1, 1), (-2, _REST, 1), (-1, -_REST, -1), (0, _REST, 2), (1, 3, 1),
         (0, 2, 1), (-1, -_REST, -2), (2, 1, 1))
    )  # fmt: skip
    size = x.shape[axis]
    left = len(range(size)[start:end:step]) if isinstance(size, int) else s.unknown()
    bounds = [s.ints(one) for one in (start, end, axis, step)]
    return s.moved("Slice", [x, *bounds], (*x.shape[:axis], left, *x.shape[axis + 1 :]))


def joined(s: RegionSketch) -> Wire | None:
    """A Concat of two or three values of one shape but for an axis."""
    x = s.a()
    if x is None or not x.shape:
        return None
    axis: int = s.pick(range(len(x.shape)))

    def fits(wire: Wire) -> bool:
        same = wire.dtype == x.dtype and len(wire.shape) == len(x.shape)
        return same and all(a == axis or wire.shape[a] == size for a, size in enumerate(x.shape))

    parts = [x, *(s.pick([w for w in s.wires if fits(w)]) for _ in range(s.pick((1, 2))))]
    sizes = [part.shape[axis] for part in parts]
    known = [size for size in sizes if isinstance(size, int)]
    whole = sum(known) if len(known) == len(sizes) else s.unknown()
    y = s.moved("Concat", parts, (*x.shape[:axis], whole, *x.shape[axis + 1 :]), axis=axis)
    exact = all(part.name in s.exact for part in parts)
    if not exact:
        s.exact.discard(y.name)
    return s.known(y, max(s.largest[part.name] for part in parts), exact=exact)


def parted(s: RegionSketch) -> Wire | None:
    """A Split in two, whose parts change places."""
    x = s.a()
    if x is None or not x.shape or not isinstance(x.shape[-1], int) or x.shape[-1] % 2:
        return None
    half = (*x.shape[:-1], x.shape[-1] // 2)
    parts = s.split_node("Split", [x], [half, half], axis=-1, num_outputs=2)
    for part in parts:
        s.known(part, s.largest[x.name], exact=x.name in s.exact)
    return s.moved("Concat", parts[::-1], x.shape, axis=-1) if s.flip() else None


def padded(s: RegionSketch) -> Wire | None:
    """More before, more behind, or less."""
    x = s.a(NUMBERS)
    if x is None or not x.shape:
        return None
    axis: int = s.pick(range(len(x.shape)))
    before, behind = s.pick(((0, 2), (1, 0), (3, 1), (-1, 0), (1, -1), (0, -1)))
    size = x.shape[axis]
    if min(before, behind) < 0 and (not isinstance(size, int) or size < 2):
        return None
    pads = [0] * (2 * x.rank)
    pads[axis], pads[x.rank + axis] = before, behind
    fill = [s.number(-3, x.dtype)] if s.flip() else []
    grown = size + before + behind if isinstance(size, int) else s.unknown()
    return s.moved("Pad", [x, s.ints(*pads), *fill], (*x.shape[:axis], grown, *x.shape[axis + 1 :]))


def picked(s: RegionSketch) -> Wire | None:
    """A Gather by constants, some counted from behind, or by numbers that are read."""
    x = s.some(lambda w: w.rank > 0 and any(isinstance(d, int) and d > 1 for d in w.shape))
    if x is None:
        return None
    axis: int = s.pick([a for a, d in enumerate(x.shape) if isinstance(d, int) and d > 1])
    size = int(x.shape[axis])
    read = s.some(lambda w: w.dtype in WHOLE and w.rank <= 2 and w.rank + x.rank <= 5)
    if read is None or s.flip():
        places = s.constant(np.array(s.pick(([0], [-1, 0, 1], [[1], [0]], 1)), np.int64))
    else:
        places = s.made("Mod", [read, s.number(size, read.dtype)], read.shape, size)
    shape = (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :])
    return s.moved("Gather", [x, places], shape, axis=axis)


def triangle(s: RegionSketch) -> Wire | None:
    x = s.some(lambda wire: wire.rank >= 2 and wire.dtype in (FLOAT, INT, BOOL))
    if x is None:
        return None
    offset = [s.constant(np.array(s.pick((-1, 0, 2)), np.int64))] if s.flip() else []
    return s.moved("Trilu", [x, *offset], x.shape, upper=s.pick((0, 1)))


STEPS: tuple[Step, ...] = (
    *(smooth, smooth, exponential, of_positive, rounded, arithmetic, arithmetic, quotient),
    *(whole_quotient, power, clipped, compared, logic, chosen, cast, reduction, reduction),
    *(softmax, normalization, by_channel, transposed, reshaped, one_more_axis, repeated, cut, cut),
    *(joined, parted, padded, picked, triangle),
)
