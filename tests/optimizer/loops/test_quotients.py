"""x sigmoid(x) as a quotient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.loops.algorithm import Algorithm, Func, InputTensor, LoopAxis
from optimizer.loops.evaluation import evaluate
from optimizer.loops.formulas import add, exp, mul, reciprocal, sigmoid
from optimizer.loops.quotients import with_quotients
from optimizer.loops.scalar import Apply, Element, Number, Scalar, parts_of

FLOAT = ir.DataType.FLOAT
AXIS = LoopAxis("i", 9)
X = Element("x", (AXIS.var,), FLOAT)
SPECIAL = [np.nan, np.inf, -np.inf, 0, -0.0, 1e-40, 100, -100, 1]


def gated(gate: Scalar, product: Callable[[Element], Scalar]) -> Algorithm:
    """One Func of x that another one reads."""
    made = Func("gate", FLOAT, (AXIS,), gate)
    y = Func("y", FLOAT, (AXIS,), product(made.at([AXIS.var])))
    return Algorithm((InputTensor("x", FLOAT, (9,)),), (made, y), ("y",))


def quotients(algorithm: Algorithm) -> list[Scalar]:
    """What is no reciprocal."""
    return [
        part
        for func in algorithm.funcs
        for part in parts_of(func.body)
        if isinstance(part, Apply)
        if part.function == "div" and not isinstance(part.arguments[0], Number)
    ]


def before(gate: Element) -> Scalar:
    return mul(gate, X)


def after(gate: Element) -> Scalar:
    return mul(X, gate)


@pytest.mark.parametrize("product", [before, after])
def test_a_factor_that_is_one_product_s_sigmoid_divides_special_values_included(
    product: Callable[[Element], Scalar],
) -> None:
    algorithm = gated(sigmoid(X), product)
    changed = with_quotients(algorithm)
    assert len(quotients(changed)) == 1
    x = np.array(SPECIAL, np.float32)
    for one, other in zip(evaluate(changed, [x]), evaluate(algorithm, [x]), strict=True):
        np.testing.assert_allclose(one, other, rtol=3e-7, atol=1e-40)


def test_a_sigmoid_in_the_product_itself_divides_too() -> None:
    algorithm = gated(X, lambda _: mul(X, sigmoid(X)))
    assert len(quotients(with_quotients(algorithm))) == 1


@pytest.mark.parametrize(
    "algorithm",
    [
        gated(sigmoid(X), lambda gate: add(mul(X, gate), gate)),
        gated(sigmoid(X), lambda gate: mul(gate, gate)),
        gated(reciprocal(add(Number(2.0, FLOAT), exp(X))), lambda gate: mul(X, gate)),
        gated(reciprocal(X), lambda gate: mul(X, gate)),
        replace(gated(sigmoid(X), lambda gate: mul(X, gate)), outputs=("gate", "y")),
    ],
    ids=["two readers", "a square", "not one", "no exponential", "an output"],
)
def test_other_reciprocals_stay_factors(algorithm: Algorithm) -> None:
    assert with_quotients(algorithm) == algorithm
