"""Which inputs' memory an output may take."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir
import pytest

from optimizer.dimension import Dimension, symbol
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.in_place import in_place_inputs
from optimizer.loops.scalar import Scalar, apply, cast, index
from tests.profiling.codegen import algorithms
from tests.profiling.codegen.algorithms import Maker

N, K = symbol("n"), symbol("k")
BITS = (128, 256, 512)


def taken(algorithm: Algorithm) -> set[tuple[int, ...]]:
    """What may be taken at each level."""
    return {tuple(in_place_inputs(algorithm, bits)) for bits in BITS}


def test_elements_are_read_where_they_are_written() -> None:
    assert taken(algorithms.silu(64, 1376)) == taken(algorithms.silu(N, K)) == {(0, 1)}
    assert taken(algorithms.gelu(N, 96)) == {(0,)}


@pytest.mark.parametrize("width", [K, 49, 64, 1500])
def test_a_row_is_read_before_it_is_written(width: Dimension) -> None:
    assert taken(algorithms.softmax(12, N, width)) == {(0,)}  # the mask is of another shape
    assert taken(algorithms.layer_norm(N, width)) == {(0, 1)}


def test_columns_are_read_a_tile_at_a_time_before_they_are_written() -> None:
    assert taken(algorithms.channel_norm(2, 96, 3136)) == {(0,)}


def test_of_several_outputs_none_takes_an_input() -> None:
    assert taken(algorithms.layer_norm(N, 96, residual_too=True)) == {()}


def test_another_type_is_left_alone() -> None:
    m = Maker()
    x = m.input("x", (N, K), ir.DataType.INT32)
    made = m.func("y", (N, K), lambda at: cast(m.at(x, at), ir.DataType.FLOAT))
    assert taken(m.algorithm(made)) == {()}


def test_what_lies_across_its_output_is_left_alone() -> None:
    for shape in ((2, 56, 56), (2, N, N)):  # in squares that overlap, and in tiles
        assert taken(algorithms.transposed(*shape)) == {()}


def test_squares_that_overlap_write_twice_what_they_read() -> None:
    m = Maker()
    x, y = m.input("x", (2, 17, 33)), m.input("y", (2, 33, 17))
    turned = m.func("turned", (2, 33, 17), lambda at: m.at(x, [at[0], at[2], at[1]]))
    assert taken(m.algorithm(m.apply("z", "add", turned, y))) == {()}


def test_a_neighbour_may_have_been_overwritten() -> None:
    m = Maker()
    x = m.input("x", (N, 64))
    mirrored = m.func("y", (N, 64), lambda at: m.at(x, [at[0], apply("sub", index(63), at[1])]))
    assert taken(m.algorithm(mirrored)) == {()}


def test_sums_of_other_planes_are_fine_where_those_of_all_planes_come_first() -> None:
    assert taken(algorithms.mirrored(N, 3, 17)) == {(0,)}


def test_a_round_may_not_read_the_rows_of_another_one() -> None:
    m = Maker()
    x = m.input("x", (4, 3, 64))
    mirror = m.func("mirror", (4, 3, 64), lambda at: _mirrored(m, x, at))
    y = m.apply("y", "sub", x, m.reduce("total", "sum", mirror))
    assert taken(m.algorithm(y)) == {()}


def _mirrored(m: Maker, x: str, at: Sequence[Scalar]) -> Scalar:
    """The planes from the last one on."""
    return m.at(x, [apply("sub", index(3), at[0]), *at[1:]])
