from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.lifetimes import lifetimes
from optimizer.model.graph import value_id, walk_graphs
from studio.gallery.gallery import entries
from tests.lanes import slow_but
from tests.optimizer.graphs import opened
from tests.optimizer.memory.running_models import of_gallery
from tests.optimizer.memory.simulated_memory import REGIONS, shuffled, trampled
from tests.optimizer.random_blocks import ALL_PATTERNS
from tests.optimizer.random_graphs import models, some_of
from tests.optimizer.running import SIZES, feeds_for, run

pytestmark = pytest.mark.long

DRAWN = settings(
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
OPTIONS = [
    LifetimeOptions(views=views, in_place=i) for views in (True, False) for i in (True, False)
]


@DRAWN
@given(models(some_of(ALL_PATTERNS)), st.sampled_from(OPTIONS), st.integers(0, 99))
def test_no_reader_of_a_random_graph_finds_its_bytes_trampled(
    proto: onnx.ModelProto, options: LifetimeOptions, seed: int
) -> None:
    graph = opened(proto).ir.graph
    arena = lifetimes(graph, options, sizes=SIZES)
    known = [one for one in arena.unknown if one.region != "weights"]
    if known:
        return
    order = shuffled(graph, arena, seed)
    assert trampled(graph, lifetimes(graph, options, order=order, sizes=SIZES)) == []
    assert trampled(graph, arena, planner="naive") == []


@DRAWN
@given(models(some_of(ALL_PATTERNS)))
def test_every_value_of_a_random_graph_is_in_exactly_one_lifetime(proto: onnx.ModelProto) -> None:
    graph = opened(proto).ir.graph
    arena = lifetimes(graph, sizes=SIZES)
    held = [value for one in arena.lifetimes for value in one.values]
    assert len(set(held)) == len(held)
    runs = set(arena.nodes)
    made = {
        value_id(v) for node in graph if node.meta["id"] in runs for v in node.outputs if v.name
    }
    assert made <= {*held, *(one.value for one in arena.unknown)}


@DRAWN
@given(models(some_of(ALL_PATTERNS)))
def test_views_have_the_very_bytes_of_what_they_look_at(proto: onnx.ModelProto) -> None:
    model = opened(proto)
    arena = lifetimes(model.ir.graph, LifetimeOptions(in_place=False), sizes=SIZES)
    by_id = {value_id(v): v.name or "" for v in (*model.ir.graph.inputs, *(
        v for node in model.ir.graph for v in node.outputs))}  # fmt: skip
    shared = [[by_id[v] for v in one.values if v in by_id] for one in arena.lifetimes]
    made = [name for group in shared if len(group) > 1 for name in group]
    if not made:
        return
    every = onnx.ModelProto()
    every.CopyFrom(proto)
    del every.graph.output[:]
    every.graph.output.extend(onnx.ValueInfoProto(name=name) for name in made)
    try:
        values = dict(zip(made, run(every, feeds_for(proto)), strict=True))
    except RuntimeError:
        return
    for group in shared:
        if len(group) > 1:
            assert len({values[name].tobytes() for name in group}) == 1


@pytest.mark.parametrize(
    "model_id", slow_but(["tour", "resnet50", "bert"], [entry.id for entry in entries()])
)
def test_no_reader_of_a_gallery_model_finds_its_bytes_trampled(model_id: str) -> None:
    graph = of_gallery(model_id).ir.graph
    sizes = {
        dim.value: 3
        for inner in walk_graphs(graph)
        for value in inner.inputs
        for dim in value.shape or ()
        if isinstance(dim, ir.SymbolicDim) and dim.value
    }
    for options in (LifetimeOptions(), LifetimeOptions(in_place=False, alignment=256)):
        arena = lifetimes(graph, options, sizes=sizes)
        if any(one.region in REGIONS for one in arena.unknown):
            pytest.skip(f"{len(arena.unknown)} sizes are unknown: {arena.unknown[0].reason}")
        assert trampled(graph, arena) == []
