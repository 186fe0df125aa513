"""How cold the caches are: what passes makes them cold, and nodes make them warm again."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import onnx_ir as ir
import pytest

from optimizer.cost.coldness import coldness
from optimizer.cost.device import Level
from optimizer.cost.devices import CORTEX_X4
from optimizer.cost.node import Cost
from optimizer.cost.predict import predict_graph
from optimizer.cost.sizes import Sizes
from optimizer.model.graph import identify, node_id

NEAR = 1000


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


def test_where_little_passes_caches_stay_warm() -> None:
    graph = chain(5)
    found = coldness(graph, {node_id(node): moving(1) for node in graph}, NEAR)
    assert set(found) == {node_id(node) for node in graph}
    for cold in found.values():
        assert max(cold.shared, cold.operator, cold.operands) < 0.02


def test_a_large_node_makes_those_after_it_cold_and_that_fades() -> None:
    graph = chain(400)
    ids = [node_id(node) for node in graph]
    found = coldness(graph, {ids[20]: moving(6 * NEAR)}, NEAR)
    after = [found[identity].shared for identity in ids[21:]]
    assert after[0] == pytest.approx(1)
    assert after == sorted(after, reverse=True)
    assert after[4] == pytest.approx(2 / 3 * exp(-1) + 1 / 3 * exp(-0.04), abs=0.01)
    assert after[100] == pytest.approx(1 / 3 * exp(-1), abs=0.01)
    assert found[ids[20]].shared < 0.1


def test_the_first_node_finds_what_the_run_before_left() -> None:
    graph = chain(3)
    ids = [node_id(node) for node in graph]
    first = coldness(graph, {ids[2]: moving(3 * NEAR)}, NEAR)[ids[0]]
    assert first.shared == pytest.approx(0.5, abs=0.01)
    assert first.operator == pytest.approx(1 - exp(-1 / 4), abs=0.01)


def test_an_operator_is_as_cold_as_what_ran_since_it_last_did() -> None:
    graph = chain(400)
    nodes = list(graph)
    nodes[10].op_type = nodes[350].op_type = "Relu"
    found = [coldness(graph, {}, NEAR)[node_id(node)].operator for node in nodes]
    assert found[350] == pytest.approx(1 - exp(-340 / 300), abs=0.001)
    assert found[10] == pytest.approx(1 - exp(-60 / 300), abs=0.001)
    assert max(found[12:350]) < 0.01


def test_instructions_stay_near_while_an_operator_comes_again_and_again() -> None:
    graph = chain(20)
    nodes = list(graph)
    nodes[10].op_type = nodes[13].op_type = "Relu"
    found = [coldness(graph, {}, NEAR)[node_id(node)].instructions for node in nodes]
    assert found[9] == found[0] == 0
    assert found[11] == found[14] == pytest.approx(1 - exp(-1))
    assert found[13] == pytest.approx(1 - exp(-2))
    assert found[10] == pytest.approx(1, abs=0.001)


def test_an_operand_is_as_cold_as_what_passed_since_it_was_last_touched() -> None:
    x = ir.val("x", ir.DataType.FLOAT, (4,))
    early = ir.node("Neg", [x], name="early")
    large = ir.node("Neg", [early.outputs[0]], name="large")
    late = ir.node("Add", [early.outputs[0], large.outputs[0]], name="late")
    for node in (early, large, late):
        node.outputs[0].name = f"{node.name} y"
    graph = ir.Graph([x], late.outputs, nodes=[early, large, late], opset_imports={"": 17})
    identify(ir.Model(graph, ir_version=9))
    found = coldness(graph, {node_id(large): moving(12 * NEAR)}, NEAR)
    assert found[node_id(large)].operands == pytest.approx(0, abs=0.01)
    both = found[node_id(late)].operands
    assert both == pytest.approx(1 - exp(-1), abs=0.01)  # the large one was read before it wrote
    assert found[node_id(early)].operands == pytest.approx(1 - exp(-1), abs=0.01)


def test_the_order_is_the_runtimes() -> None:
    x = ir.val("x", ir.DataType.FLOAT, (4,))
    nodes = [ir.node("Neg", [x], name=f"n{number}") for number in range(3)]
    for number, node in enumerate(nodes):
        node.outputs[0].name = f"y{number}"
    outputs = [node.outputs[0] for node in nodes]
    graph = ir.Graph([x], outputs, nodes=nodes, opset_imports={"": 17})
    identify(ir.Model(graph, ir_version=9))
    first, middle, last = (node_id(node) for node in nodes)
    found = coldness(graph, {last: moving(100 * NEAR)}, NEAR)
    assert found[last].shared < found[first].shared < found[middle].shared


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
    inside = {node_id(body[1]): moving(2 * NEAR) for body in both.values()}
    found = coldness(graph, inside, NEAR)
    assert set(found) == {node_id(owner), *inside}
    one, other = (found[identity].shared for identity in inside)
    assert 0.3 < one < found[node_id(owner)].shared < other


def test_a_launch_takes_longer_in_cold_caches_and_nothing_else_does() -> None:
    graph = chain(2)
    levels = (Level("near", 1, 1e11), Level("memory", None, 1e11))
    warm = replace(CORTEX_X4, levels=levels)
    cold = replace(warm, cold_launch=0.5, cold_operator=0.25, far_operand_us=0.3)
    parts = [node.parts for node in predict_graph(graph, Sizes(), cold).nodes]
    plain = [node.parts for node in predict_graph(graph, Sizes(), warm).nodes]
    gone = 1 - exp(-(32 / 12 + 1 / 300))
    longer = (plain[1].emit_us + 0.3 * gone) * (1 + 0.5 + 0.25 * gone)
    assert parts[1].emit_us == pytest.approx(longer)
    for one, other in zip(parts, plain, strict=True):
        assert replace(one, emit_us=0.0) == replace(other, emit_us=0.0)


def test_a_launch_takes_longer_where_another_operator_ran_before() -> None:
    graph = chain(6)
    list(graph)[5].op_type = "Relu"
    device = replace(CORTEX_X4, far_instructions_us=0.1)
    neg, *_, relu = (node.parts.emit_us for node in predict_graph(graph, Sizes(), device).nodes)
    assert neg == pytest.approx(CORTEX_X4.launch_us + 0.1 * (1 - exp(-1)))
    assert relu == pytest.approx(CORTEX_X4.launch_us + 0.1, abs=0.001)


def test_every_dimension_of_operands_and_results_takes_its_time_to_launch() -> None:
    device = replace(CORTEX_X4, dimension_us=0.1)
    times: list[float] = []
    for rank in (0, 4):
        x, y = (ir.val(name, ir.DataType.FLOAT, (1,) * rank) for name in "xy")
        one = ir.val("one", ir.DataType.FLOAT, (1,))
        node = ir.node("Add", [x, one], outputs=[y], name="n")
        graph = ir.Graph([x, one], [y], nodes=[node], opset_imports={"": 17})
        identify(ir.Model(graph, ir_version=9))
        times.append(predict_graph(graph, Sizes(), device).nodes[0].parts.emit_us)
    assert times[1] - times[0] == pytest.approx(8 * 0.1)


def test_a_concat_of_more_inputs_takes_longer_to_launch() -> None:
    device = replace(CORTEX_X4, joined_us=0.5)
    times: list[float] = []
    for count in (2, 5):
        inputs = [ir.val(f"x{number}", ir.DataType.INT64, (1,)) for number in range(count)]
        node = ir.node("Concat", inputs, {"axis": 0}, name="n")
        out = node.outputs[0]
        out.name, out.shape, out.dtype = "y", ir.Shape((count,)), ir.DataType.INT64
        graph = ir.Graph(inputs, [out], nodes=[node], opset_imports={"": 17})
        identify(ir.Model(graph, ir_version=9))
        times.append(predict_graph(graph, Sizes(), device).nodes[0].parts.emit_us)
    assert times[1] - times[0] == pytest.approx(3 * 0.5)
