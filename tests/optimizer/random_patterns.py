"""What random graphs are made of. Each pattern adds a few nodes on a value that is there.

`ELEMENTWISE` patterns turn a small difference into a small difference. `ROUGH` ones round, so
they are only for passes that are exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper

from tests.optimizer.random_graphs import BOOL, FLOAT, HALF, INT, Pattern, Sketch, Wire

DOUBLE = int(TensorProto.DOUBLE)
Step = Callable[[Sketch, Wire], Wire | None]


def on(condition: Callable[[Wire], bool]) -> Callable[[Step], Pattern]:
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


@on(_float)
def unary(sketch: Sketch, x: Wire) -> Wire:
    op_type = sketch.pick(["Relu", "Neg", "Abs", "Tanh", "Sigmoid", "LeakyRelu", "Erf", "Elu"])
    return sketch.node(op_type, [x], x.shape)


@on(_any)
def identity(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node("Identity", [x], x.shape)


@on(_float)
def of_one(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node(sketch.pick(["Sum", "Mean", "Max", "Min"]), [x], x.shape)


@on(_float)
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
    shape: tuple[int, ...] = sketch.pick(shapes)
    number = sketch.pick([0.0, 1.0, 2.0, -0.5, None])
    if number is None:
        return sketch.constant(
            np.linspace(0.5, 1.5, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        )
    return sketch.constant(np.full(shape, number, dtype=np.float32))


@on(_float)
def arithmetic(sketch: Sketch, x: Wire) -> Wire:
    """x + c, c - x, x * c …, as chains of up to three."""
    for _ in range(sketch.pick([1, 2, 3])):
        op_type = sketch.pick(["Add", "Sub", "Mul"])
        operands = [x, _filled(sketch, x)]
        x = sketch.node(op_type, operands[::-1] if sketch.flip() else operands, x.shape)
    return x


@on(_float)
def division(sketch: Sketch, x: Wire) -> Wire:
    number = sketch.pick([1.0, 2.0, 3.0, 0.25])
    return sketch.node("Div", [x, sketch.constant(np.array(number, np.float32))], x.shape)


@on(_float)
def of_two(sketch: Sketch, x: Wire) -> Wire:
    other = sketch.some(lambda wire: wire.dtype == x.dtype and wire.shape == x.shape)
    op_type = sketch.pick(["Add", "Sub", "Mul", "Max", "Min"])
    return sketch.node(op_type, [x, other or x], x.shape)


@on(lambda wire: wire.dtype in (FLOAT, HALF, INT))
def widening(sketch: Sketch, x: Wire) -> Wire:
    """To a wider type and back, or to the own type."""
    wider = {FLOAT: DOUBLE, HALF: FLOAT, INT: INT}[x.dtype]
    y = sketch.node("Cast", [x], x.shape, dtype=wider, to=wider)
    return sketch.node("Cast", [y], x.shape, dtype=x.dtype, to=x.dtype)


@on(_float)
def narrowing(sketch: Sketch, x: Wire) -> Wire:
    """To a narrower type and back: it rounds."""
    narrower = sketch.pick([HALF, INT, int(TensorProto.INT32), BOOL])
    y = sketch.node("Cast", [x], x.shape, dtype=narrower, to=narrower)
    return sketch.node("Cast", [y], x.shape, dtype=FLOAT, to=FLOAT)


@on(_float)
def rounding(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node(sketch.pick(["Floor", "Ceil", "Round", "Sign"]), [x], x.shape)


@on(_float)
def dropout(sketch: Sketch, x: Wire) -> Wire:
    ratio = sketch.constant(np.array(0.5, np.float32))
    return sketch.node("Dropout", [x, ratio], x.shape)


@on(_float)
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


ELEMENTWISE: tuple[Pattern, ...] = (
    *(unary, identity, of_one, twice, arithmetic, division, of_two, widening, dropout, branch),
)
ROUGH: tuple[Pattern, ...] = (narrowing, rounding)
