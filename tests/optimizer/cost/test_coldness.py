"""How much of what a launch reads lies far: all that passed since it was last used tells."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import onnx_ir as ir
import pytest

from optimizer.cost.device import Level
from optimizer.cost.devices import CORTEX_X4
from optimizer.cost.node import Cost
from optimizer.cost.predict import predict_graph
from optimizer.cost.sizes import Sizes
from optimizer.cost.traffic import far_reads
from optimizer.model.graph import identify, node_id
from optimizer.runtime.order import runtime_order

NEAR = 1000
ANOTHER = 1 / 4
"""What is far of an operator's code after another's."""


def moving(count: int) -> Cost:
    return Cost(bytes_read=count // 2, bytes_written=count - count // 2)


def chain(length: int) -> ir.Graph:
    value = ir.val("x", ir.DataType.FLOAT, (4,))
    first, nodes = value, list[ir.Node]()
    for number in range(length):
        nodes.append(ir.node("Neg", [value], name=f"n{number}"))
        value = nodes[-1].outputs[0]
        value.name, value.shape, value.dtype = f"y{number}", ir.Shape((4,)), ir.DataType.FLOAT
    graph = ir.Graph([first], [value], nodes=nodes, opset_imports={"": 17})
    identify(ir.Model(graph, ir_version=9))
    return graph


def far(graph: ir.Graph, costs: dict[str, Cost]) -> list[float]:
    found = far_reads(graph, costs, NEAR)
    return [found[node_id(node)] for node in graph]


def test_where_little_passes_all_stays_near() -> None:
    graph = chain(5)
    assert max(far(graph, {node_id(node): moving(1) for node in graph})) < 0.02


def test_what_an_operator_reads_is_as_far_as_what_passed_since_it_last_ran() -> None:
    graph = chain(400)
    nodes = list(graph)
    nodes[10].op_type = nodes[350].op_type = "Relu"
    found = far(graph, {node_id(nodes[20]): moving(6 * NEAR)})
    assert found[350] == pytest.approx(1 - exp(-6 / 12) + ANOTHER)
    assert found[10] == found[11] == pytest.approx(ANOTHER)
    assert found[22:350] == pytest.approx([0] * 328)


def test_an_operand_is_as_far_as_what_passed_since_it_was_last_used() -> None:
    x = ir.val("x", ir.DataType.FLOAT, (4,))
    early = ir.node("Neg", [x], name="early")
    large = ir.node("Neg", [early.outputs[0]], name="large")
    late = ir.node("Sub", [early.outputs[0], large.outputs[0]], name="late")
    for node in (early, large, late):
        node.outputs[0].name = f"{node.name} y"
    graph = ir.Graph([x], late.outputs, nodes=[early, large, late], opset_imports={"": 17})
    identify(ir.Model(graph, ir_version=9))
    gone = 1 - exp(-1)
    # of the run before: what `early` reads and its operator; the large one read before it wrote
    expected = [2 * gone + ANOTHER, 0, 3 * gone + ANOTHER]
    assert far(graph, {node_id(large): moving(12 * NEAR)}) == pytest.approx(expected)


def test_the_order_is_the_runtimes() -> None:
    x = ir.val("x", ir.DataType.FLOAT, (4,))
    nodes = [ir.node("Neg", [x], name=f"n{number}") for number in range(3)]
    for number, node in enumerate(nodes):
        node.outputs[0].name = f"y{number}"
    outputs = [node.outputs[0] for node in nodes]
    graph = ir.Graph([x], outputs, nodes=nodes, opset_imports={"": 17})
    identify(ir.Model(graph, ir_version=9))
    order = [node_id(node) for node in nodes]
    assert runtime_order(graph) != order
    first = runtime_order(graph)[0]
    found = far_reads(graph, {first: moving(100 * NEAR)}, NEAR)
    assert [one for one in order if found[one] > 1.9] == [runtime_order(graph)[1]]


def test_bodies_run_after_what_owns_them_one_after_the_other() -> None:
    def branch(name: str) -> ir.Graph:
        node = ir.node("Constant", [], {"value": ir.tensor([1.0])}, name=f"{name} c")
        twice = ir.node("Neg", [node.outputs[0]], name=f"{name} n")
        node.outputs[0].name, twice.outputs[0].name = f"{name} v", f"{name} y"
        return ir.Graph([], [twice.outputs[0]], nodes=[node, twice], name=name)

    condition = ir.val("condition", ir.DataType.BOOL, ())
    both = {"then_branch": branch("then"), "else_branch": branch("else")}
    owner = ir.node("If", [condition], both, name="if")
    owner.outputs[0].name = "y"
    graph = ir.Graph([condition], owner.outputs, nodes=[owner], opset_imports={"": 17})
    identify(ir.Model(graph, ir_version=9))
    first, second = (node_id(body[1]) for body in both.values())
    found = far_reads(graph, {first: moving(12 * NEAR)}, NEAR)
    assert set(found) == {node_id(owner), first, second}
    gone = 1 - exp(-1)
    expected = {node_id(owner): 2 * gone + ANOTHER, first: gone + ANOTHER, second: 2 * gone}
    assert found == pytest.approx(expected)


def test_a_launch_takes_longer_where_what_it_reads_lies_far_and_nothing_else_does() -> None:
    graph = chain(2)
    levels = (Level("near", 1, 1e11), Level("memory", None, 1e11))
    near = replace(CORTEX_X4, levels=levels)
    parts, plain = (
        [node.parts for node in predict_graph(graph, Sizes(), device).nodes]
        for device in (replace(near, far_us=0.3), near)
    )
    gone = 1 - exp(-32 / 12)
    assert parts[1].emit_us == pytest.approx(plain[1].emit_us + 0.3 * 2 * gone)
    for one, other in zip(parts, plain, strict=True):
        assert replace(one, emit_us=0.0) == replace(other, emit_us=0.0)
