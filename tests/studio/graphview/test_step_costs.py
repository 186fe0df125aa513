from __future__ import annotations

import pytest

from optimizer.graph_cost import graph_cost
from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from studio.gallery import gallery
from studio.graphview.graph_file import groups_of
from studio.graphview.steps_file import steps_json
from tests.lanes import slow_but


@pytest.mark.parametrize("network", slow_but(["tour", "bert"], ["tour", "bert", "gpt2"]))
def test_what_the_steps_change_adds_up_to_the_cost_of_the_optimized_graph(network: str) -> None:
    model = load_path(gallery.open_path(network))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    source = graph_cost(model.ir.graph)
    trace = optimize(model, Pipeline.of("runtime"))
    cursor = Cursor.at_end(trace)
    optimized = graph_cost(cursor.model.graph)
    cursor.seek(0)
    steps = steps_json(cursor, key="k", graph_key="g", groups=groups_of(model.ir.graph))
    ends = {
        "nodes": [source.nodes, optimized.nodes],
        "flops": [source.flops, optimized.flops],
        "bytes": [cost.bytes_read + cost.bytes_written for cost in (source, optimized)],
    }
    assert steps["totals"] == ends
    for metric, (first, last) in ends.items():
        assert first + sum(step["delta"][metric] for step in steps["steps"]) == last


def test_work_that_goes_into_a_function_is_counted_still() -> None:
    model = load_path(gallery.open_path("tour"))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    source = graph_cost(model.ir.graph)
    trace = optimize(model, Pipeline.of("none", enable=["outline-repeats"]))
    assert trace.steps
    cursor = Cursor.at_end(trace)
    cursor.seek(0)
    steps = steps_json(cursor, key="k", graph_key="g", groups=groups_of(model.ir.graph))
    assert steps["totals"]["flops"] == [source.flops] * 2
    assert all(step["delta"]["flops"] == step["delta"]["bytes"] == 0 for step in steps["steps"])
