"""What random graphs are made of. Each pattern adds a few nodes on a value that is there.

`SMOOTH` patterns turn a small difference into a small difference. `ROUGH` ones round, so they are
only for passes that are exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper

from tests.optimizer.random_graphs import BOOL, FLOAT, HALF, INT, Pattern, Shape, Sketch, Wire

DOUBLE = int(TensorProto.DOUBLE)
Step = Callable[[Sketch, Wire], Wire | None]


def _on(condition: Callable[[Wire], bool]) -> Callable[[Step], Pattern]:
    """Make a pattern of a step: it runs on some value that fits, if there is one."""

    def decorate(step: Step) -> Pattern:
        def pattern(sketch: Sketch) -> Wire | None:
            wire = sketch.some(condition)
            return None if wire is None else step(sketch, wire)

        pattern.__name__ = step.__name__
        return pattern

    return decorate


def _float(wire: Wire) -> bool:
    return wire.dtype == FLOAT


def _any(_: Wire) -> bool:
    return True


def _static(shape: Shape) -> tuple[int, ...] | None:
    sizes = tuple(size for size in shape if isinstance(size, int))
    return sizes if len(sizes) == len(shape) else None


@_on(_float)
def unary(sketch: Sketch, x: Wire) -> Wire:
    op_type = sketch.pick(["Relu", "Neg", "Abs", "Tanh", "Sigmoid", "LeakyRelu", "Erf", "Elu"])
    return sketch.node(op_type, [x], x.shape)


@_on(_any)
def identity(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node("Identity", [x], x.shape)


@_on(_float)
def twice(sketch: Sketch, x: Wire) -> Wire:
    """The same thing computed twice, and an operator that is its own repetition."""
    op_type = sketch.pick(["Relu", "Abs", "Tanh", "Identity"])
    a, b = sketch.node(op_type, [x], x.shape), sketch.node(op_type, [x], x.shape)
    return sketch.node("Add", [a, sketch.node(op_type, [b], x.shape)], x.shape)


def _filled(sketch: Sketch, x: Wire) -> Wire:
    """A float constant that broadcasts to the shape of `x`."""
    last = x.shape[-1] if x.shape else 1
    shapes: list[tuple[int, ...]] = [(), (1,) * x.rank]
    if isinstance(last, int):
        shapes.append((last,))
    shape = sketch.pick(shapes)
    number = sketch.pick([0.0, 1.0, 2.0, -0.5, None])
    if number is None:
        return sketch.constant(
            np.linspace(0.5, 1.5, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        )
    return sketch.constant(np.full(shape, number, dtype=np.float32))


@_on(_float)
def arithmetic(sketch: Sketch, x: Wire) -> Wire:
    """x + c, c - x, x * c …, as chains of up to three."""
    for _ in range(sketch.pick([1, 2, 3])):
        op_type = sketch.pick(["Add", "Sub", "Mul"])
        operands = [x, _filled(sketch, x)]
        x = sketch.node(op_type, operands[::-1] if sketch.flip() else operands, x.shape)
    return x


@_on(_float)
def division(sketch: Sketch, x: Wire) -> Wire:
    number = sketch.pick([1.0, 2.0, 3.0, 0.25])
    return sketch.node("Div", [x, sketch.constant(np.array(number, np.float32))], x.shape)


@_on(_float)
def of_two(sketch: Sketch, x: Wire) -> Wire:
    other = sketch.some(lambda wire: wire.dtype == x.dtype and wire.shape == x.shape)
    op_type = sketch.pick(["Add", "Sub", "Mul", "Max", "Min"])
    return sketch.node(op_type, [x, other or x], x.shape)


@_on(lambda wire: wire.dtype in (FLOAT, HALF, INT))
def widening(sketch: Sketch, x: Wire) -> Wire:
    """To a wider type and back, or to the own type."""
    wider = {FLOAT: DOUBLE, HALF: FLOAT, INT: INT}[x.dtype]
    y = sketch.node("Cast", [x], x.shape, dtype=wider, to=wider)
    return sketch.node("Cast", [y], x.shape, dtype=x.dtype, to=x.dtype)


@_on(_float)
def narrowing(sketch: Sketch, x: Wire) -> Wire:
    """To a narrower type and back: it rounds."""
    narrower = sketch.pick([HALF, INT, int(TensorProto.INT32), BOOL])
    y = sketch.node("Cast", [x], x.shape, dtype=narrower, to=narrower)
    return sketch.node("Cast", [y], x.shape, dtype=FLOAT, to=FLOAT)


@_on(_float)
def rounding(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node(sketch.pick(["Floor", "Ceil", "Round", "Sign"]), [x], x.shape)


@_on(lambda wire: wire.rank > 0)
def transpose(sketch: Sketch, x: Wire) -> Wire:
    """The identity, the reversal, or a rotation; sometimes there and back."""
    axes = list(range(x.rank))
    perm = sketch.pick([axes, axes[::-1], [*axes[1:], 0]])
    y = sketch.node("Transpose", [x], tuple(x.shape[a] for a in perm), perm=perm)
    if not sketch.flip():
        return y
    if sketch.flip() and x.dtype == FLOAT:
        y = sketch.node("Relu", [y], y.shape)
    back = [perm.index(axis) for axis in axes]
    return sketch.node("Transpose", [y], x.shape, perm=back)


def _target(sketch: Sketch, x: Wire) -> Wire:
    """The own shape, said in one of four ways."""
    way = sketch.pick(["zeros", "open", "shape", "gathered"])
    if way == "shape":
        return sketch.node("Shape", [x], (x.rank,), dtype=INT)
    if way == "gathered":
        return _gathered(sketch, x)
    sizes = [size if isinstance(size, int) else 0 for size in x.shape]
    if way == "open":
        sizes[sketch.pick(range(x.rank))] = -1
    return sketch.ints(*sizes)


def _gathered(sketch: Sketch, x: Wire) -> Wire:
    """Shape, Gather, Unsqueeze, Concat: what exporters write for a view."""
    parts: list[Wire] = []
    for axis, size in enumerate(x.shape):
        if isinstance(size, int):
            parts.append(sketch.ints(size))
            continue
        shape = sketch.node("Shape", [x], (x.rank,), dtype=INT)
        one = sketch.node("Gather", [shape, sketch.constant(np.array(axis, np.int64))], (), axis=0)
        parts.append(sketch.node("Unsqueeze", [one, sketch.ints(0)], (1,)))
    return sketch.node("Concat", parts, (x.rank,), axis=0)


@_on(lambda wire: wire.rank > 0)
def reshape(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node("Reshape", [x, _target(sketch, x)], x.shape)


@_on(lambda wire: wire.rank > 1)
def merge(sketch: Sketch, x: Wire) -> Wire:
    """Merge all axes but the last, and sometimes reshape once more."""
    rows: int | str = "*".join(str(size) for size in x.shape[:-1])
    static = _static(x.shape[:-1])
    rows = int(np.prod(static)) if static is not None else rows
    last = x.shape[-1] if isinstance(x.shape[-1], int) else -1
    if last == -1:
        return sketch.node("Flatten", [x], (x.shape[0], "rest"), axis=1)
    y = sketch.node("Reshape", [x, sketch.ints(-1, last)], (rows, last))
    if sketch.flip():
        y = sketch.node("Reshape", [y, sketch.ints(-1, 1, last)], (rows, 1, last))
    return y


@_on(lambda wire: wire.rank > 0)
def expand(sketch: Sketch, x: Wire) -> Wire:
    """To the own shape, to ones, or with one more axis in front."""
    if sketch.flip():
        shape = sketch.node("Shape", [x], (x.rank,), dtype=INT)
        return sketch.node("Expand", [x, shape], x.shape)
    ones = [1] * x.rank
    if sketch.flip():
        return sketch.node("Expand", [x, sketch.ints(*ones)], x.shape)
    return sketch.node("Expand", [x, sketch.ints(2, *ones)], (2, *x.shape))


@_on(lambda wire: wire.rank > 0)
def tile(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node("Tile", [x, sketch.ints(*[1] * x.rank)], x.shape)


@_on(lambda wire: wire.rank > 0)
def cut(sketch: Sketch, x: Wire) -> Wire:
    """A Slice of everything, to the far end, or of all but the first."""
    axis = sketch.pick(range(x.rank))
    size = x.shape[axis]
    start = sketch.pick([0, 0, 1])
    end = sketch.pick([2**63 - 1, 2**31 - 1, size if isinstance(size, int) else 2**31 - 1])
    left: int | str = f"{size}-{start}" if isinstance(size, str) and start else size
    if start and (not isinstance(size, int) or size < 2):
        start, left = 0, size
    elif isinstance(size, int):
        left = size - start
    shape = (*x.shape[:axis], left, *x.shape[axis + 1 :])
    bounds = [sketch.ints(start), sketch.ints(end), sketch.ints(axis)]
    return sketch.node("Slice", [x, *bounds], shape)


@_on(lambda wire: wire.rank > 0 and wire.dtype == FLOAT and _static(wire.shape) is not None)
def pad(sketch: Sketch, x: Wire) -> Wire:
    more = sketch.pick([0, 0, 1])
    pads = [0] * (2 * x.rank)
    pads[-1] = more
    last = x.shape[-1]
    grown: Shape = (*x.shape[:-1], last + more if isinstance(last, int) else last)
    return sketch.node("Pad", [x, sketch.ints(*pads)], grown)


@_on(lambda wire: wire.rank < 4)
def unsqueeze(sketch: Sketch, x: Wire) -> Wire:
    y = sketch.node("Unsqueeze", [x, sketch.ints(0)], (1, *x.shape))
    if sketch.flip():
        return sketch.node("Unsqueeze", [y, sketch.ints(1)], (1, 1, *x.shape))
    return sketch.node("Squeeze", [y, sketch.ints(0)], x.shape) if sketch.flip() else y


@_on(lambda wire: 1 not in wire.shape and _static(wire.shape) is not None)
def squeeze(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node("Squeeze", [x], x.shape)


@_on(lambda wire: wire.rank > 0)
def concat(sketch: Sketch, x: Wire) -> Wire:
    """One operand, or two of which one may be empty."""
    if sketch.flip():
        return sketch.node("Concat", [x], x.shape, axis=0)
    static = _static(x.shape[1:])
    if static is not None and x.dtype == FLOAT and sketch.flip():
        empty = sketch.constant(np.zeros((0, *static), np.float32))
        return sketch.node("Concat", [x, empty], x.shape, axis=0)
    first = x.shape[0]
    rows: int | str = 2 * first if isinstance(first, int) else f"2*{first}"
    return sketch.node("Concat", [x, x], (rows, *x.shape[1:]), axis=0)


@_on(lambda wire: wire.rank > 0)
def split(sketch: Sketch, x: Wire) -> Wire:
    """Into one part, or into two that are joined again."""
    last = x.shape[-1]
    if not isinstance(last, int) or last % 2 or sketch.flip():
        return sketch.node("Split", [x], x.shape, axis=0, num_outputs=1)
    half = (*x.shape[:-1], last // 2)
    parts = sketch.split_node("Split", [x], [half, half], axis=-1, num_outputs=2)
    return sketch.node("Concat", parts, x.shape, axis=-1)


@_on(lambda wire: wire.dtype == FLOAT and wire.rank == 4)
def resize(sketch: Sketch, x: Wire) -> Wire:
    scales = sketch.constant(np.ones(4, np.float32))
    return sketch.node("Resize", [x, None, scales], x.shape, mode="nearest")


@_on(_float)
def dropout(sketch: Sketch, x: Wire) -> Wire:
    ratio = sketch.constant(np.array(0.5, np.float32))
    return sketch.node("Dropout", [x, ratio], x.shape)


@_on(_any)
def nothing_of_it(sketch: Sketch, x: Wire) -> Wire | None:
    """Take none of the rows, compute on, and join: only empty tensors on the way."""
    if x.rank == 0 or x.dtype != FLOAT or _static(x.shape) is None:
        return None
    bounds = [sketch.ints(0), sketch.ints(0), sketch.ints(0)]
    empty = sketch.node("Slice", [x, *bounds], (0, *x.shape[1:]))
    empty = sketch.node("Relu", [empty], empty.shape)
    sketch.wires = [wire for wire in sketch.wires if 0 not in wire.shape]
    return sketch.node("Concat", [empty, x], x.shape, axis=0)


@_on(_float)
def branch(sketch: Sketch, x: Wire) -> Wire:
    """If: both branches read `x` from outside."""
    condition = sketch.pick([sketch.input(BOOL, ()), None])
    if condition is None:
        condition = sketch.constant(np.array(sketch.flip()))
    bodies = {
        key: _body(sketch, key, [("Identity", x.name), (op_type, "")], x)
        for key, op_type in (("then_branch", "Relu"), ("else_branch", "Neg"))
    }
    return sketch.node("If", [condition], x.shape, dtype=x.dtype, **bodies)


def _body(sketch: Sketch, name: str, chain: list[tuple[str, str]], x: Wire) -> object:
    nodes: list[object] = []
    current = ""
    for op_type, source in chain:
        output = sketch.name("b")
        nodes.append(helper.make_node(op_type, [source or current], [output]))
        current = output
    made = [helper.make_tensor_value_info(current, x.dtype, None)]
    return helper.make_graph(nodes, sketch.name(name), [], made)  # pyright: ignore[reportArgumentType] - a list of nodes


SMOOTH: tuple[Pattern, ...] = (
    *(unary, identity, twice, arithmetic, division, of_two, widening, dropout, branch),
    *(transpose, reshape, merge, expand, tile, cut, pad),
    *(unsqueeze, squeeze, concat, split, resize, nothing_of_it),
)
ROUGH: tuple[Pattern, ...] = (narrowing, rounding)
