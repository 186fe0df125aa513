"""Algorithms computed in NumPy."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.dimension import symbol
from optimizer.loops.algorithm import Algorithm, Func, InputTensor, LoopAxis, Reduction
from optimizer.loops.evaluation import evaluate
from optimizer.loops.scalar import BOOL, INDEX, Element, Number, Var, apply, cast, index

FLOAT = ir.DataType.FLOAT


def _softmax(rows: object, width: object) -> Algorithm:
    """Of each row: the largest, the sum of what is left after it, and the quotient."""
    n, k = LoopAxis("n", rows), LoopAxis("k", width)  # pyright: ignore[reportArgumentType] - sizes
    x = InputTensor("x", FLOAT, (n.extent, k.extent))
    read = Element("x", (n.var, k.var), FLOAT)
    top = Func("top", FLOAT, (n,), read, Reduction("max", (k,)))
    power = Func("power", FLOAT, (n, k), apply("exp", apply("sub", read, top.at([n.var]))))
    total = Func("total", FLOAT, (n,), power.at([n.var, k.var]), Reduction("sum", (k,)))
    quotient = apply("div", power.at([n.var, k.var]), total.at([n.var]))
    return Algorithm((x,), (top, power, total, Func("y", FLOAT, (n, k), quotient)), ("y",))


@pytest.mark.parametrize(("rows", "width"), [(3, 7), (symbol("n"), 7), (symbol("n"), symbol("k"))])
def test_a_softmax_of_fixed_or_free_sizes_is_the_textbook_one(rows: object, width: object) -> None:
    x = np.random.default_rng(0).standard_normal((3, 7)).astype(np.float32)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    (y,) = evaluate(_softmax(rows, width), [x])
    np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-6)


def test_an_input_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"x has shape \(3, 8\), the kernel takes \(3, 7\)"):
        evaluate(_softmax(3, 7), [np.zeros((3, 8), np.float32)])


def test_a_place_outside_a_tensor_may_stand_where_it_is_not_taken() -> None:
    n = LoopAxis("n", 6)
    inside = apply("lt", n.var, index(4))
    read = Element("x", (n.var,), FLOAT)
    padded = Func("y", FLOAT, (n,), apply("select", inside, read, Number(0.0, FLOAT)))
    (y,) = evaluate(
        Algorithm((InputTensor("x", FLOAT, (4,)),), (padded,), ("y",)),
        [np.arange(1, 5, dtype=np.float32)],
    )
    assert y.tolist() == [1, 2, 3, 4, 0, 0]


def test_the_type_of_an_expression_is_that_of_its_first_number_or_yes_or_no() -> None:
    number, place = Number(1.0, FLOAT), Var("i")
    assert apply("mul", number, number).dtype is FLOAT
    assert apply("lt", number, number).dtype is BOOL
    assert apply("select", apply("lt", place, place), number, number).dtype is FLOAT
    assert cast(place, INDEX) is place
    assert cast(place, FLOAT).dtype is FLOAT
