"""Regions as algorithms: free sizes, constants, views, and what is declined."""

from __future__ import annotations

import numpy as np
import pytest

from optimizer.dimension import symbol
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.building import NotGenerated
from optimizer.loops.evaluation import evaluate
from optimizer.loops.scalar import Apply, parts_of
from optimizer.operators.catalogue import CATALOGUE
from tests.optimizer.fusion.regions import region_of

HEAD = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>\n'


def _algorithm(text: str) -> Algorithm:
    return region_of(HEAD + text)[0]


def _divisions(algorithm: Algorithm) -> int:
    parts = [part for func in algorithm.funcs for part in parts_of(func.body)]
    return sum(isinstance(p, Apply) and p.function in ("floor_div", "floor_mod") for p in parts)


def test_a_hundred_operators_have_loops() -> None:
    assert sum(operator.loops is not None for operator in CATALOGUE.values()) >= 100


def test_free_sizes_have_names_of_their_own_and_tell_what_they_are_in_the_model() -> None:
    found = _algorithm(
        """g (float["batch size", 8] x, float["past + seq", 8] y) => (z, w)
        { z = Relu(x) w = Neg(y) }"""
    )
    assert [tensor.shape for tensor in found.inputs] == [(symbol("s0"), 8), (symbol("s1"), 8)]
    assert {name: str(size) for name, size in found.sizes.items()} == {
        "s0": "batch size", "s1": "past + seq",
    }  # fmt: skip
    assert found.free_sizes == {"s0": (0, 0), "s1": (1, 0)}
    x, y = np.ones((3, 8), np.float32), np.ones((5, 8), np.float32)
    assert [array.shape for array in evaluate(found, [x, y])] == [(3, 8), (5, 8)]


def test_two_free_sizes_that_may_differ_are_not_broadcast() -> None:
    with pytest.raises(NotGenerated, match="nothing says whether sizes s0 and s1 are equal"):
        _algorithm('g (float["n"] x, float["m"] y) => (z) { z = Add(x, y) }')


def test_a_size_that_no_input_has_is_refused() -> None:
    with pytest.raises(NotGenerated, match="no input says how large"):
        _algorithm("g (int64[1] n) => (z) { z = ConstantOfShape(n) }")


def test_views_are_places_in_what_they_view() -> None:
    found = _algorithm(
        """g (float["b", 4, 96] x) => (z) <int64[4] s = {0, 0, 12, 8}, int64[3] t = {0, 12, -1}> {
        a = Reshape(x, s) h = Transpose <perm = [0, 2, 1, 3]> (a) r = Relu(h) z = Neg(r) }"""
    )
    assert [func.name for func in found.funcs] == ["relu", "neg"]
    assert _divisions(found) == 0


def test_a_reshape_there_and_back_leaves_no_division() -> None:
    found = _algorithm(
        """g (float["b", 12, 7] x) => (z) <int64[3] s = {-1, 4, 7}, int64[3] t = {-1, 12, 7}> {
        a = Reshape(x, s) h = Reshape(a, t) z = Neg(h) }"""
    )
    assert _divisions(found) == 0


def test_small_constants_are_part_of_the_kernel_and_large_ones_have_to_be_inputs() -> None:
    found = _algorithm(
        """g (float["n", 3] x) => (z) <float[1] s = {2}, float[3] t = {1, 2, 3}> {
        a = Mul(x, s) z = Add(a, t) }"""
    )
    assert len(found.inputs) == 1
    (z,) = evaluate(found, [np.ones((2, 3), np.float32)])
    assert z.tolist() == [[3, 4, 5]] * 2


def test_indices_read_at_run_time_stay_inside_the_tensor() -> None:
    found = _algorithm("g (float[3] x, int64[4] i) => (z) { z = Gather(x, i) }")
    (z,) = evaluate(found, [np.array([1, 2, 3], np.float32), np.array([-1, 0, 2**40, -(2**40)])])
    assert z.tolist() == [3, 1, 3, 1]


REFUSED = (
    ("g (float[3] x) => (z) { z = Det(x) }", "Det has no loop rule"),
    ("g (float[4] x) => (z) { z = Acos(x) }", "Acos has no loop rule"),
    ("g (string[4] x) => (z) { z = Identity(x) }", "no loops are written for elements of type"),
    ("g (float[2, 4] x, int64[1] a) => (z) { z = ReduceSum(x, a) }", "axes that are not constant"),
    ("g (float[2, 4] x, float[3, 4] y) => (z) { z = Add(x, y) }", "sizes"),
    ("g (float[4] x, bool t) => (z) { z = Dropout(x, , t) }", "may be in training"),
    ("g (int64[4] x, int64[4] y) => (z) { z = Pow(x, y) }", "the powers 1, 2 and 3 alone"),
    ('g (float[4] x) => (z) <int64[2] p = {1, 1}> { z = Pad <mode = "edge"> (x, p) }', "constant"),
    ("g (float[0] x) => (z) <int64[1] i = {0}> { z = Gather(x, i) }", "picks out of nothing"),
    ("g (float[3] x) => (z) <int64[1] i = {3}> { z = Gather(x, i) }", "outside the tensor"),
)


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_has_no_loops_is_declined_in_a_sentence(text: str, reason: str) -> None:
    with pytest.raises(NotGenerated, match=reason):
        _algorithm(text)
