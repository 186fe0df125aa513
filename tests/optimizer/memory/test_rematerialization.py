from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.hourglass import hourglass
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.buffer import lower_bound
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import apply_order, reorder
from optimizer.memory.pieces import peak_bytes, pieces_of
from optimizer.memory.program import read_program
from optimizer.memory.rematerialization import Copy, expanded, may_repeat, rematerialize
from optimizer.memory.sizes import KnownSizes
from optimizer.model.graph import Model, node_id
from optimizer.passes.memory.recompute_values import RecomputeValues
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.provenance import Provenance
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace
from tests.optimizer.graphs import loaded, opened, proto_of
from tests.optimizer.memory.random_networks import networks
from tests.optimizer.memory.running_models import (
    assert_equal_outputs,
    of_gallery,
    ones,
    random_model,
)
from tests.optimizer.memory.simulated_memory import trampled

DRAWN = settings(max_examples=100, derandomize=True)


def narrow() -> Model:
    """An hourglass as from a file."""
    return loaded(proto_of(hourglass()))


def traced(model: Model, copies: Sequence[Copy]) -> tuple[Model, Trace]:
    """The model with these copies, which the pass makes, and its trace."""
    again = replace(model, ir=model.ir.clone())
    trace = optimize(again, Pipeline((RecomputeValues(copies=tuple(copies)),)))
    assert trace.failed == []
    return again, trace


def unread(model: Model) -> int:
    """How many nodes compute nothing that is read."""
    used = (any(v.uses() or v.is_graph_output() for v in n.outputs) for n in model.ir.graph)
    return list(used).count(False)


def with_copies(model: Model, copies: Sequence[Copy]) -> Model:
    return traced(model, copies)[0] if copies else model


def random_copies(model: Model, random: Random) -> list[Copy]:
    """Of some nodes one copy that is read."""
    nodes = list(model.ir.graph)
    place = {node: index for index, node in enumerate(nodes)}
    found: dict[str, str] = {}
    for node in random.sample(nodes, len(nodes)):
        readers = [place[r] for v in node.outputs for r in v.consumers() if r in place]
        later = nodes[place[node] + 1 : max(readers, default=0) + 1]
        if later and may_repeat(node):
            found[node_id(node)] = node_id(random.choice(later))
    return random.sample(list(found.items()), min(len(found), random.randrange(1, 8)))


def test_an_hourglass_needs_less_than_half_for_a_quarter_more_arithmetic() -> None:
    curve = rematerialize(narrow().ir.graph)
    start = curve[0].peak_bytes
    assert (curve[0].extra_flops, curve[0].copies) == (0, ())
    enough = next(point for point in curve if 2 * point.peak_bytes < start)
    assert enough.part < 0.27
    assert all(a.peak_bytes > b.peak_bytes for a, b in pairwise(curve))
    assert all(a.extra_flops < b.extra_flops for a, b in pairwise(curve))


def test_every_point_of_the_curve_is_a_model_with_that_peak_and_equal_outputs() -> None:
    model = narrow()
    for point in rematerialize(model.ir.graph)[1::3]:
        again = with_copies(model, point.copies)
        arena = lifetimes(again.ir.graph)
        assert lower_bound(arena.buffers()) == point.peak_bytes
        assert trampled(again.ir.graph, arena) == []
        assert_equal_outputs(model, again)


def test_the_slider_ends_where_it_is_told() -> None:
    graph = narrow().ir.graph
    curve = rematerialize(graph, most_extra=0.1)
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
    curve = rematerialize(model.ir.graph, most_extra=9.0)
    # the view and what it looks at first, kept alive what they are made from; then that, too
    assert [set(point.copies) for point in curve] == [
        set(),
        {("n1", "n6"), ("n2", "n6")},
        {("n0", "n6"), ("n1", "n6"), ("n2", "n6")},
    ]
    assert [point.peak_bytes for point in curve] == [8128, 4928, 4480]
    again = with_copies(model, curve[-1].copies).ir.graph
    # nobody else read them: they only run later
    assert [node.op_type for node in again] == [
        "Softmax", "Concat", "ReduceMax", "Softmax", "Expand", "Reshape", "ReduceMax", "Add"
    ]  # fmt: skip


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
    # less where nobody reads the first result any more: it is not computed then
    assert peak_bytes(ran, range(len(made.origin))) >= lower_bound(arena.buffers())
    if len(arena.nodes) == len(made.origin):
        assert peak_bytes(ran, range(len(made.origin))) == lower_bound(arena.buffers())
    assert trampled(again.ir.graph, arena) == []


@DRAWN
@given(networks(most=12))
def test_the_curve_of_a_random_network_is_true(model: Model) -> None:
    for point in rematerialize(model.ir.graph, most_extra=9.0):
        again = with_copies(model, point.copies)
        assert lower_bound(lifetimes(again.ir.graph).buffers()) <= point.peak_bytes
        assert unread(again) <= unread(model)


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
      b = Abs(a)
      i = If (c) <
        then_branch = t () => (float[2] p) { p = Neg(a) },
        else_branch = e () => (float[2] q) { q = Abs(a) }
      >
      y = Add(i, b)
    }""")
    again = with_copies(model, [("n0", "n2")])
    first, _, copy, owner, _ = again.ir.graph
    assert {use.node.op_type for use in copy.outputs[0].uses()} == {"Neg", "Abs"}
    assert [use.node.op_type for use in first.outputs[0].uses()] == ["Abs"]
    assert owner.op_type == "If"
    feeds = {"c": np.array(True), "x": np.array([3, 4], np.float32)}
    assert_equal_outputs(model, again, feeds=feeds)


def test_copies_that_make_no_sense_are_refused() -> None:
    model = opened("""<ir_version: 8, opset_import: ["": 18]>
    g (float[2] x) => (y) { a = RandomNormalLike(x) b = Exp(x) y = Add(a, b) }""")
    for copies, message in [
        ([("n9", "n1")], "no node n9"),
        ([("n1", "n0")], "cannot run again before"),
        ([("n1", "n1")], "cannot run again before"),
        ([("n0", "n2")], "may give something else"),
    ]:
        again, trace = traced(model, copies)
        assert len(list(again.ir.graph)) == 3
        assert [message in declined.reason for declined in trace.declined] == [True]


def test_copies_follow_an_applied_order() -> None:
    model = narrow()
    order = reorder(model.ir.graph, "exact").nodes
    point = rematerialize(model.ir.graph, order)[-1]
    again = with_copies(apply_order(model, order), point.copies)
    assert lower_bound(lifetimes(again.ir.graph).buffers()) == point.peak_bytes


def test_each_late_reader_is_a_step_that_can_be_undone_and_names_what_runs_again() -> None:
    model = narrow()
    before = proto_of(model.ir)
    copies = rematerialize(model.ir.graph)[-1].copies
    trace = optimize(model, Pipeline((RecomputeValues(),)))
    readers = [step.root for step in trace.rewrites]
    assert sorted(readers) == sorted({reader for _, reader in copies})
    history = Provenance(trace)
    made = [node for step in trace.rewrites for node in step.added]
    origins = [one for node in made for one in history.origins(node)]
    assert sorted(set(origins)) == sorted({one for one, _ in copies})
    Cursor.at_end(trace).seek(0)
    assert proto_of(model.ir) == before


def test_a_vetoed_step_is_held_back_and_the_others_stand() -> None:
    model = narrow()
    first, *others = optimize(model, Pipeline((RecomputeValues(),))).rewrites
    again = narrow()
    trace = optimize(again, Pipeline((RecomputeValues(),), vetoed=frozenset({first.match})))
    assert [step.root for step in trace.rewrites] == [step.root for step in others]
    assert_equal_outputs(narrow(), again)


def test_what_is_recomputed_comes_last_and_stays_beside_passes_that_share() -> None:
    model = narrow()
    trace = optimize(model, Pipeline.of("default", enable=["recompute-values"]))
    ids = [step.pass_id for step in trace.rewrites]
    assert ids[-1] == "recompute-values"
    assert "recompute-values" not in ids[: ids.index("recompute-values")]
    assert (
        lower_bound(lifetimes(model.ir.graph).buffers())
        < rematerialize(narrow().ir.graph)[0].peak_bytes
    )
