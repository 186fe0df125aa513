"""Cheapest cuts are the smallest of the cheapest, however found, and take time by the vertex."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from optimizer import minimum_cut
from optimizer.layout.assignment.problem import Flow, LayoutProblem
from optimizer.layout.assignment.solve import solve
from optimizer.layout.targets import TARGETS
from optimizer.layout_assignment import assign_layouts
from optimizer.minimum_cut import MinimumCut
from optimizer.model.loader import load_bytes
from optimizer.model.symbolic import SymbolicValues


def random_network(seed: int, *, vertices: int, edges: int) -> MinimumCut:
    draw = random.Random(seed)
    names = [str(number) for number in range(vertices)]
    network = MinimumCut("near", "far")
    for name in names:
        network.edge("near", name, draw.randint(0, 3))
        network.edge(name, "far", draw.randint(0, 3))
    for _ in range(edges):
        start, end = draw.sample(names, 2)
        network.edge(start, end, draw.choice([0, 1, 2, 3, None]))
    return network


def test_tables_and_augmenting_paths_find_the_same_side(monkeypatch: pytest.MonkeyPatch) -> None:
    networks = [random_network(seed, vertices=9, edges=seed % 20) for seed in range(150)]
    by_tables = [network.far_side() for network in networks]
    monkeypatch.setattr(minimum_cut, "MOST_ENTRIES", 0)
    assert [network.far_side() for network in networks] == by_tables
    assert len({len(side) for side in by_tables}) > 3


def chain(length: int) -> LayoutProblem:
    """The first half would have one layout, the second the other: paths are as long as it is."""
    converted = {("NCHW", "NHWC"): 1000.0, ("NHWC", "NCHW"): 1000.0}
    costs = [(2.0, 1.0) if number < length // 2 else (1.0, 2.0) for number in range(length)]
    candidates = ({"NCHW": 0.0}, *({"NCHW": first, "NHWC": last} for first, last in costs))
    flows = [
        Flow(number, tuple({number + 1, min(number + 1 + number % 3, length)}), converted)
        for number in range(length)
    ]
    # A hub: a value that every node reads.
    hub = Flow(0, tuple(range(1, length + 1)), converted)
    return LayoutProblem(candidates, (*flows, hub))


def calls(work: Callable[[], object]) -> int:
    """How many functions were entered, builtins included."""
    count = 0

    def entered(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(entered)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_twice_as_long_a_chain_is_twice_the_work() -> None:
    solve(chain(10))  # what is imported once
    short, middle, long = (calls(lambda n=n: solve(chain(n))) for n in (100, 200, 400))
    assert (long - middle) / (middle - short) < 2.3


def network(layers: int) -> onnx.ModelProto:
    """Convolutions and what follows each; every third knows one layout only."""
    image = helper.make_tensor_value_info("v0", TensorProto.FLOAT, (1, 16, 8, 8))
    weights = numpy_helper.from_array(np.ones((16, 16, 3, 3), np.float32) / 144, "weights")
    nodes: list[onnx.NodeProto] = []
    for number in range(layers):
        operator = ("Relu", "Sigmoid", "Hardmax")[number % 3]
        nodes += [
            helper.make_node("Conv", [f"v{number}", "weights"], [f"c{number}"], pads=[1, 1, 1, 1]),
            helper.make_node(operator, [f"c{number}"], [f"v{number + 1}"]),
        ]
    last = helper.make_tensor_value_info(f"v{layers}", TensorProto.FLOAT, (1, 16, 8, 8))
    graph = helper.make_graph(nodes, "chain", [image], [last], [weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.long  # where lines are counted, that is calls, too
def test_twice_as_deep_a_network_is_assigned_and_rewritten_with_twice_the_work() -> None:
    def work(layers: int) -> int:
        model = load_bytes(network(layers).SerializeToString(), name="chain")
        SymbolicValues(model.ir).propagate(model.ir.graph)
        return calls(lambda: assign_layouts(model, TARGETS["cuda"]))

    work(2)  # what is imported and looked up once
    short, middle, long = map(work, (12, 24, 48))
    assert (long - middle) / (middle - short) < 2.3
