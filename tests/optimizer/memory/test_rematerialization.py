from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.hourglass import hourglass
from optimizer.errors import PlanError
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.buffer import lower_bound
from optimizer.memory.copies import expanded, may_repeat
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import apply_order, reorder
from optimizer.memory.pieces import peak_bytes, pieces_of
from optimizer.memory.program import read_program
from optimizer.memory.rematerialization import rematerialize, with_copies
from optimizer.memory.sizes import KnownSizes
from optimizer.model.graph import Model, node_id
from tests.optimizer.graphs import loaded, opened, proto_of
from tests.optimizer.memory.random_networks import networks
from tests.optimizer.memory.running_models import (
    UNHURRIED,
    assert_equal_outputs,
    of_gallery,
    ones,
    random_model,
)
from tests.optimizer.memory.simulated_memory import trampled

DRAWN = settings(
    max_examples=100, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def narrow() -> Model:
    """An hourglass as from a file."""
    return loaded(proto_of(hourglass()))


def random_copies(model: Model, random: Random) -> list[tuple[str, str]]:
    nodes = list(model.ir.graph)
    pairs = [
        (node_id(a), node_id(b))
        for place, b in enumerate(nodes)
        for a in nodes[:place]
        if may_repeat(a)
    ]
    return random.sample(pairs, min(len(pairs), random.randrange(1, 8)))


def test_an_hourglass_needs_less_than_half_for_a_quarter_more_arithmetic() -> None:
    curve = rematerialize(narrow().ir.graph, budget=UNHURRIED)
    start = curve[0].peak_bytes
    assert (curve[0].extra_flops, curve[0].copies) == (0, ())
    enough = next(point for point in curve if 2 * point.peak_bytes < start)
    assert enough.part < 0.27
    assert all(a.peak_bytes > b.peak_bytes for a, b in pairwise(curve))
    assert all(a.extra_flops < b.extra_flops for a, b in pairwise(curve))


def test_every_point_of_the_curve_is_a_model_with_that_peak_and_equal_outputs() -> None:
    model = narrow()
    for point in rematerialize(model.ir.graph, budget=UNHURRIED)[1::3]:
        again = with_copies(model, point.copies)
        arena = lifetimes(again.ir.graph)
        assert lower_bound(arena.buffers()) == point.peak_bytes
        assert len(arena.nodes) == len(list(model.ir.graph)) + len(point.copies)
        assert trampled(again.ir.graph, arena) == []
        assert_equal_outputs(model, again)


def test_the_slider_ends_where_it_is_told() -> None:
    graph = narrow().ir.graph
    curve = rematerialize(graph, most_extra=0.1, budget=UNHURRIED)
    assert len(curve) > 1
    assert curve[-1].part <= 0.1


def test_nothing_is_gained_where_one_operator_is_the_peak() -> None:
    model = of_gallery("mobilenetv2")
    (point,) = rematerialize(model.ir.graph, sizes=ones(model))
    assert point.peak_bytes == reorder(model.ir.graph, "exact", sizes=ones(model)).peak_bytes


def test_what_was_freed_before_runs_again_with_it() -> None:
    model = opened("""<ir_version: 8, opset_import: ["": 18]>
    g (float[100] x, int64[2] wide, int64[1] flat) => (y)
    {
      a = Softmax(x)
      b = Expand(a, wide)
      v = Reshape(b, flat)
      c = Softmax(x)
      d = Concat<axis = 0>(c, c, c, c, c, c, c, c, c, c)
      e = ReduceMax<keepdims = 1>(d)
      f = ReduceMax<keepdims = 1>(v)
      y = Add(e, f)
    }""")
    for name, shape in (("b", (9, 100)), ("v", (900,)), ("f", (1,))):
        value = next(v for node in model.ir.graph for v in node.outputs if v.name == name)
        value.shape, value.type = ir.Shape(shape), ir.TensorType(ir.DataType.FLOAT)
    curve = rematerialize(model.ir.graph, most_extra=9.0, budget=UNHURRIED)
    # the view and what it looks at first, kept alive what they are made from; then that, too
    assert [set(point.copies) for point in curve] == [
        set(),
        {("n1", "n6"), ("n2", "n6")},
        {("n0", "n6"), ("n1", "n6"), ("n2", "n6")},
    ]
    assert [point.peak_bytes for point in curve] == [8128, 4928, 4480]


@DRAWN
@given(networks(most=12), st.integers(0, 999), st.booleans())
def test_the_program_with_copies_is_the_model_with_copies(
    model: Model, seed: int, in_place: bool
) -> None:
    options = LifetimeOptions(in_place=in_place)
    copies = random_copies(model, Random(seed)) if len(list(model.ir.graph)) > 1 else []
    again = with_copies(model, copies)
    program = read_program(model.ir.graph, KnownSizes(model.ir.graph))
    place = {identity: index for index, identity in enumerate(program.ids())}
    made = expanded(
        program, range(len(place)), {(place[one], place[before]) for one, before in copies}
    )
    ran = pieces_of(made.program, options)
    arena = lifetimes(again.ir.graph, options)
    assert peak_bytes(ran, range(len(made.origin))) == lower_bound(arena.buffers())
    assert trampled(again.ir.graph, arena) == []


@DRAWN
@given(networks(most=12))
def test_the_curve_of_a_random_network_is_true(model: Model) -> None:
    for point in rematerialize(model.ir.graph, most_extra=9.0, budget=UNHURRIED):
        again = with_copies(model, point.copies)
        assert lower_bound(lifetimes(again.ir.graph).buffers()) == point.peak_bytes


@pytest.mark.parametrize("seed", range(25))
def test_a_random_graph_with_copies_computes_the_same(seed: int) -> None:
    model = random_model(seed)
    if len(list(model.ir.graph)) < 2:
        pytest.skip("one node has nothing to run before")
    again = with_copies(model, random_copies(model, Random(seed)))
    assert_equal_outputs(model, again, seed=seed)


def test_a_body_reads_the_latest_copy() -> None:
    model = opened("""<ir_version: 8, opset_import: ["": 18]>
    g (bool c, float[2] x) => (y)
    {
      a = Exp(x)
      i = If (c) <
        then_branch = t () => (float[2] p) { p = Neg(a) },
        else_branch = e () => (float[2] q) { q = Abs(a) }
      >
      y = Add(i, x)
    }""")
    again = with_copies(model, [("n0", "n1")])
    first, copy, owner, _ = again.ir.graph
    assert not first.outputs[0].uses()
    assert {use.node.op_type for use in copy.outputs[0].uses()} == {"Neg", "Abs"}
    assert (node_id(copy), owner.op_type) == ("n0@n1", "If")
    feeds = {"c": np.array(True), "x": np.array([3, 4], np.float32)}
    assert_equal_outputs(model, again, feeds=feeds)


def test_copies_that_make_no_sense_are_refused() -> None:
    model = opened("""<ir_version: 8, opset_import: ["": 18]>
    g (float[2] x) => (y) { a = RandomNormalLike(x) b = Exp(x) y = Add(a, b) }""")
    for copies, message in [
        ([("n9", "n1")], "no node 'n9'"),
        ([("n1", "n0")], "cannot run again before"),
        ([("n1", "n1")], "cannot run again before"),
        ([("n0", "n2")], "may give something else"),
    ]:
        with pytest.raises(PlanError, match=message):
            with_copies(model, copies)


def test_copies_follow_an_applied_order() -> None:
    model = narrow()
    order = reorder(model.ir.graph, "exact").nodes
    point = rematerialize(model.ir.graph, order, budget=UNHURRIED)[-1]
    again = with_copies(apply_order(model, order), point.copies)
    assert lower_bound(lifetimes(again.ir.graph).buffers()) == point.peak_bytes
