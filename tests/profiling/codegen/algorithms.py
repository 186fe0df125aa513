"""Algorithms written by hand, one Func an operator, as the loop rules make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import (
    Algorithm,
    Func,
    InputTensor,
    LoopAxis,
    Reduction,
    ReductionKind,
)
from optimizer.loops.scalar import (
    Element,
    FreeSize,
    Number,
    Scalar,
    ScalarFunction,
    apply,
    cast,
    index,
)
from tests.optimizer.fusion.regions import region_of

FLOAT = ir.DataType.FLOAT
Shape = Sequence[Dimension]


def number(value: float) -> Number:
    return Number(value, FLOAT)


class Maker:
    """Gathers inputs and Funcs; tensors are told by their names."""

    def __init__(self) -> None:
        self.shapes: dict[str, Shape] = {}
        self._types: dict[str, ir.DataType] = {}
        self._inputs: list[InputTensor] = []
        self._funcs: list[Func] = []

    def input(self, name: str, shape: Shape, dtype: ir.DataType = FLOAT) -> str:
        self._inputs.append(InputTensor(name, dtype, tuple(shape)))
        self.shapes[name], self._types[name] = shape, dtype
        return name

    def at(self, name: str, indices: Sequence[Scalar]) -> Element:
        """Broadcast to the indices: axes of extent 1, or missing in front, are repeated."""
        shape = self.shapes[name]
        own = indices[len(indices) - len(shape) :]
        places = [index(0) if size == 1 else one for one, size in zip(own, shape, strict=True)]
        return Element(name, tuple(places), self._types[name])

    def func(self, name: str, shape: Shape, body: Callable[[Sequence[Scalar]], Scalar]) -> str:
        axes = [LoopAxis(f"i{number}", size) for number, size in enumerate(shape)]
        scalar = body([axis.var for axis in axes])
        self._funcs.append(Func(name, scalar.dtype, tuple(axes), scalar))
        self.shapes[name], self._types[name] = shape, scalar.dtype
        return name

    def apply(self, name: str, function: ScalarFunction, *operands: str | Number) -> str:
        shapes = [list(self.shapes[one]) for one in operands if isinstance(one, str)]
        rank = max(map(len, shapes))
        columns = zip(*([1] * (rank - len(shape)) + shape for shape in shapes), strict=True)
        shape = [next((size for size in sizes if size != 1), 1) for sizes in columns]

        def body(indices: Sequence[Scalar]) -> Scalar:
            return apply(
                function,
                *(self.at(one, indices) if isinstance(one, str) else one for one in operands),
            )

        return self.func(name, shape, body)

    def reduce(self, name: str, kind: ReductionKind, tensor: str, axis: int = -1) -> str:
        """With the axis kept, of extent 1."""
        shape = list(self.shapes[tensor])
        axis %= len(shape)
        r = LoopAxis("r0", shape[axis])
        axes = [
            LoopAxis(f"i{number}", 1 if number == axis else size)
            for number, size in enumerate(shape)
        ]
        places = [r.var if number == axis else one.var for number, one in enumerate(axes)]
        self._funcs.append(
            Func(name, FLOAT, tuple(axes), self.at(tensor, places), Reduction(kind, (r,)))
        )
        self.shapes[name], self._types[name] = [one.extent for one in axes], FLOAT
        return name

    def mean(self, name: str, tensor: str, axis: int = -1) -> str:
        total = self.reduce(f"{name}_sum", "sum", tensor, axis)
        extent = self.shapes[tensor][axis]
        size = number(extent) if isinstance(extent, int) else cast(FreeSize(str(extent)), FLOAT)

        def body(indices: Sequence[Scalar]) -> Scalar:
            return apply("div", self.at(total, indices), size)

        return self.func(name, self.shapes[total], body)

    def algorithm(self, *outputs: str) -> Algorithm:
        return Algorithm(tuple(self._inputs), tuple(self._funcs), outputs)


def mirrored(planes: Dimension, rows: Dimension, width: Dimension) -> Algorithm:
    """Of sqrt(|x|) from the first plane on, and from the last one on, less the sums of its rows."""
    m = Maker()
    x = m.input("x", (planes, rows, width))
    root = m.apply("root", "sqrt", m.apply("size", "abs", x))
    total = m.reduce("total", "sum", root)
    last = apply("sub", FreeSize(str(planes)), index(1))

    def body(indices: Sequence[Scalar]) -> Scalar:
        mirror = [apply("sub", last, indices[0]), *indices[1:]]
        both = apply("add", m.at(root, indices), m.at(root, mirror))
        return apply("sub", both, m.at(total, indices))

    return m.algorithm(m.func("y", m.shapes[x], body))


def softmax(heads: Dimension, rows: Dimension, width: Dimension) -> Algorithm:
    """Of x / 8 + mask."""
    m = Maker()
    x = m.input("x", (heads, rows, width))
    mask = m.input("mask", (1, rows, width))
    masked = m.apply("masked", "add", m.apply("scaled", "mul", x, number(0.125)), mask)
    return m.algorithm(_softmax_of(m, masked))


def _softmax_of(m: Maker, x: str) -> str:
    top = m.reduce("top", "max", x)
    power = m.apply("power", "exp", m.apply("shifted", "sub", x, top))
    return m.apply("y", "div", power, m.reduce("total", "sum", power))


def rms_norm(rows: Dimension, width: Dimension) -> Algorithm:
    m = Maker()
    x, scale = m.input("x", (rows, width)), m.input("scale", (width,))
    mean = m.mean("mean", m.apply("square", "mul", x, x))
    root = m.apply("root", "sqrt", m.apply("sheltered", "add", mean, number(1e-5)))
    return m.algorithm(m.apply("y", "mul", m.apply("normal", "div", x, root), scale))


def layer_norm(rows: Dimension, width: Dimension, *, residual_too: bool = False) -> Algorithm:
    """Of x + bias + residual; perhaps that sum, too."""
    m = Maker()
    x, other = m.input("x", (rows, width)), m.input("other", (rows, width))
    bias, scale, shift = (m.input(name, (width,)) for name in ("bias", "scale", "shift"))
    total = m.apply("residual", "add", m.apply("biased", "add", x, bias), other)
    y = _normalized(m, total, -1, scale, shift)
    return m.algorithm(y, total) if residual_too else m.algorithm(y)


def _normalized(m: Maker, x: str, axis: int, scale: str, shift: str) -> str:
    middle = m.apply("middle", "sub", x, m.mean("mean", x, axis))
    variance = m.mean("variance", m.apply("square", "mul", middle, middle), axis)
    root = m.apply("root", "sqrt", m.apply("sheltered", "add", variance, number(1e-5)))
    return m.apply(
        "y", "add", m.apply("scaled", "mul", m.apply("normal", "div", middle, root), scale), shift
    )


def channel_norm(batch: Dimension, channels: Dimension, space: Dimension) -> Algorithm:
    """LayerNormalization along the channels of NCHW."""
    m = Maker()
    x = m.input("x", (batch, channels, space))
    scale, shift = m.input("scale", (channels, 1)), m.input("shift", (channels, 1))
    return m.algorithm(_normalized(m, x, -2, scale, shift))


def pixel_norm(channels: int, height: int, width: int, *, merged: bool = False) -> Algorithm:
    """LayerNormalization of each pixel of CHW, written as HWC; or as one row of pixels."""
    m = Maker()
    x = m.input("x", (channels, height, width))
    scale, shift = m.input("scale", (channels,)), m.input("shift", (channels,))

    def pixel(at: Sequence[Scalar]) -> list[Scalar]:
        if not merged:
            return [*at[:2]]
        return [apply(one, at[0], index(width)) for one in ("floor_div", "floor_mod")]

    shape = (height * width, channels) if merged else (height, width, channels)
    turned = m.func("turned", shape, lambda at: m.at(x, [at[-1], *pixel(at)]))
    return m.algorithm(_normalized(m, turned, -1, scale, shift))


def pixel_gelu(channels: int, height: int, width: int) -> Algorithm:
    """Gelu of CHW, written as a row of pixels with their channels side by side."""
    m = Maker()
    x = m.input("x", (channels, height, width))

    def pixel(at: Sequence[Scalar]) -> list[Scalar]:
        return [apply(one, at[0], index(width)) for one in ("floor_div", "floor_mod")]

    shape = (height * width, channels)
    turned = m.func("turned", shape, lambda at: m.at(x, [at[1], *pixel(at)]))
    return m.algorithm(m.apply("y", "erf", turned))


def gelu(rows: Dimension, width: Dimension) -> Algorithm:
    """Of x + bias, by erf."""
    m = Maker()
    x = m.apply("biased", "add", m.input("x", (rows, width)), m.input("bias", (width,)))
    bent = m.apply("erf", "erf", m.apply("inner", "mul", x, number(0.5**0.5)))
    half = m.apply("half", "mul", x, number(0.5))
    return m.algorithm(m.apply("y", "mul", half, m.apply("one", "add", bent, number(1))))


def _sigmoid(m: Maker, x: str) -> str:
    power = m.apply("power", "exp", m.apply("minus", "neg", x))
    return m.apply("sigmoid", "div", number(1), m.apply("above", "add", power, number(1)))


def silu(rows: Dimension, width: Dimension) -> Algorithm:
    """Times up."""
    m = Maker()
    x, up = m.input("x", (rows, width)), m.input("up", (rows, width))
    return m.algorithm(m.apply("y", "mul", m.apply("silu", "mul", x, _sigmoid(m, x)), up))


def rotary(heads: Dimension, rows: Dimension, width: int) -> Algorithm:
    """x cos + [-right half, left half] sin."""
    m = Maker()
    x = m.input("x", (heads, rows, width))
    cos, sin = m.input("cos", (rows, width)), m.input("sin", (rows, width))
    half = width // 2

    def turned(at: Sequence[Scalar]) -> Scalar:
        *lead, last = at
        right = m.at(x, [*lead, apply("add", last, index(half))])
        left = m.at(x, [*lead, apply("sub", last, index(half))])
        return apply("select", apply("lt", last, index(half)), apply("neg", right), left)

    other = m.apply("other", "mul", m.func("turned", m.shapes[x], turned), sin)
    return m.algorithm(m.apply("y", "add", m.apply("straight", "mul", x, cos), other))


def chain(size: Dimension) -> Algorithm:
    """Seven operators: relu(sigmoid(1.7 x + 0.3) x + x) - 0.5."""
    m = Maker()
    x = m.input("x", (size,))
    bent = _sigmoid(m, m.apply("b", "add", m.apply("a", "mul", x, number(1.7)), number(0.3)))
    total = m.apply("e", "add", m.apply("d", "mul", bent, x), x)
    return m.algorithm(m.apply("y", "sub", m.apply("f", "max", total, number(0)), number(0.5)))


def dequantized(rows: Dimension, width: Dimension) -> Algorithm:
    """(quantized - zero point) scale x."""
    m = Maker()
    q = m.input("q", (rows, width), ir.DataType.UINT8)
    zero, scale = m.input("zero", (1,), ir.DataType.UINT8), m.input("scale", (1,))
    x = m.input("x", (rows, width))
    whole = m.func("whole", m.shapes[q], lambda at: cast(m.at(q, at), ir.DataType.INT32))
    shift = m.func("shift", m.shapes[zero], lambda at: cast(m.at(zero, at), ir.DataType.INT32))
    middle = m.apply("middle", "sub", whole, shift)
    real = m.func("real", m.shapes[q], lambda at: cast(m.at(middle, at), FLOAT))
    return m.algorithm(m.apply("y", "mul", m.apply("value", "mul", real, scale), x))


def transposed(batch: Dimension, rows: Dimension, width: Dimension) -> Algorithm:
    """x transposed, times 2, plus a bias."""
    m = Maker()
    x, bias = m.input("x", (batch, rows, width)), m.input("bias", (rows,))
    turned = m.func("turned", (batch, width, rows), lambda at: m.at(x, [at[0], at[2], at[1]]))
    return m.algorithm(m.apply("y", "add", m.apply("twice", "mul", turned, number(2)), bias))


def keys(rows: int, heads: int, width: int) -> Algorithm:
    """x + bias, a matrix for each head, the other way round."""
    m = Maker()
    x, bias = m.input("x", (rows, heads * width)), m.input("bias", (heads * width,))
    total = m.apply("total", "add", x, bias)

    def body(at: Sequence[Scalar]) -> Scalar:
        return m.at(total, [at[2], apply("add", apply("mul", at[0], index(width)), at[1])])

    return m.algorithm(m.func("y", (heads, width, rows), body))


def images(channels: int, height: int, width: int) -> Algorithm:
    """Pixels with their channels, as an image of each channel."""
    m = Maker()
    x = m.input("x", (height * width, channels))

    def body(at: Sequence[Scalar]) -> Scalar:
        return m.at(x, [apply("add", apply("mul", at[1], index(width)), at[2]), at[0]])

    return m.algorithm(m.func("y", (channels, height, width), body))


def column_sum(rows: Dimension, width: Dimension) -> Algorithm:
    """The mean of squares of each column."""
    m = Maker()
    x = m.input("x", (rows, width))
    return m.algorithm(m.mean("y", m.apply("square", "mul", x, x), 0))


def scan(steps: int, width: Dimension, states: int) -> Algorithm:
    """A state space model's scan, unrolled: h = a h + b, y = Σ c h of every step."""
    m = Maker()
    a, b = m.input("a", (steps, width, states)), m.input("b", (steps, width, states))
    c = m.input("c", (steps, states))
    results: list[str] = []
    state = ""
    for step in range(steps):
        at_step = [index(step)]

        def body(at: Sequence[Scalar], lead: list[Number] = at_step, held: str = state) -> Scalar:
            grown = m.at(b, [*lead, *at])
            if not held:
                return grown
            return apply("add", apply("mul", m.at(a, [*lead, *at]), m.at(held, at)), grown)

        state = m.func(f"h{step}", (width, states), body)
        seen = state

        def weighted(at: Sequence[Scalar], lead: list[Number] = at_step, of: str = seen) -> Scalar:
            return apply("mul", m.at(of, at), m.at(c, [*lead, at[-1]]))

        product = m.func(f"p{step}", (width, states), weighted)
        results.append(m.reduce(f"y{step}", "sum", product))

    def joined(at: Sequence[Scalar]) -> Scalar:
        found: Scalar = m.at(results[-1], [at[1], index(0)])
        for step in reversed(range(steps - 1)):
            taken = apply("eq", at[0], index(step))
            found = apply("select", taken, m.at(results[step], [at[1], index(0)]), found)
        return found

    return m.algorithm(m.func("y", (steps, width), joined))


def enlarged(channels: int, height: int, width: int, times: int, *, turned: bool) -> Algorithm:
    """Pixels between pixels; of rows of channels, or of channels of rows."""
    low, high = f"{height},{width}", f"{times * height},{times * width}"
    pixels = f"float[1,{height * width},{channels}] x, float[{channels}] b"
    made, about = f"float[1,{channels},{high}] y", 'mode = "linear"'
    sizes = f"int64[4] sizes = {{1,{channels},{high}}}, int64[4] shape = {{1,{channels},{low}}}"
    text = (
        f"""g ({pixels}) => ({made}) <{sizes}> {{
            a = Add(x, b)
            t = Transpose<perm = [0, 2, 1]>(a)
            r = Reshape(t, shape)
            y = Resize<{about}>(r, , , sizes)
        }}"""
        if turned
        else f"""g (float[1,{channels},{low}] x) => ({made}) <{sizes}> {{
            r = Resize<{about}>(x, , , sizes)
            y = Relu(r)
        }}"""
    )
    return region_of(f'<ir_version: 9, opset_import: ["" : 20]>\n{text}')[0]
