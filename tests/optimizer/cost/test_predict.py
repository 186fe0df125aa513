"""Times computed by hand on a device with round numbers, beside those predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.cost import Sizes
from optimizer.cost.classes import OperatorClass
from optimizer.cost.device import DeviceProfile, Level, RateCurve, flat
from optimizer.cost.predict import BROADCAST, Parts, predict, predict_graph
from optimizer.model.graph import identify
from tests.optimizer.cost.nodes import model_of, node_of

DEVICE = DeviceProfile(
    id="round",
    name="Round numbers",
    source="made up",
    date="2026-11-21",
    measured=False,
    threads=1,
    rates={
        OperatorClass.GEMM: RateCurve(((1.0, 1e9), (4.0, 4e9))),
        OperatorClass.ELEMENTWISE: flat(1e9),
        OperatorClass.DENSE_CONV: flat(2e9),
    },
    levels=(Level("near", 4096, 8e9), Level("far", None, 1e9, 0.5e9)),
    strided={OperatorClass.TRANSPOSE: flat(0.1e9)},
    launch_us=1.0,
    launches_us={"MatMul": 3.0},
    element_operations={"Tanh": 10.0, "Square": 2.0},
    faster={"FLOAT16": 2.0},
)


def parts_of(call: str | ir.Node, device: DeviceProfile = DEVICE, weights: int = 0) -> Parts:
    node = node_of(call) if isinstance(call, str) else call
    found = predict(node, Sizes(), device, graph_weight_bytes=weights)
    assert found is not None
    return found.parts


def test_arithmetic_hides_traffic_or_the_other_way_round_and_nothing_hides_the_launch() -> None:
    assert Parts(1, 2, 10, 3).total_us == 11
    assert Parts(1, 4, 3, 5).total_us == 10
    assert [Parts(1, 2, 10, 3).limit, Parts(1, 4, 3, 5).limit, Parts(9, 4, 3, 2).limit] == [
        "compute", "memory", "launch",
    ]  # fmt: skip


def test_a_product_takes_its_launch_its_flops_and_its_bytes() -> None:
    parts = parts_of("MatMul(matrix, right)")
    assert parts.emit_us == 3
    assert parts.compute_us == pytest.approx(2 * 8 * 4 * 16 / 4e9 * 1e6)
    assert parts.read_us == pytest.approx(4 * (8 * 16 + 16 * 4) / 8e9 * 1e6)
    assert parts.write_us == pytest.approx(4 * 8 * 4 / 8e9 * 1e6)


def test_an_elementwise_operator_takes_what_the_machine_needs_for_an_element() -> None:
    assert parts_of("Tanh(matrix)").compute_us == pytest.approx(10 * 128 / 1e9 * 1e6)
    assert parts_of("Relu(matrix)").compute_us == pytest.approx(128 / 1e9 * 1e6)


def test_a_constant_square_is_no_general_power() -> None:
    device = replace(DEVICE, element_operations={"Pow": 40.0, "Square": 2.0})
    body = """
    g (float[128] x, float[128] e) => (y, z)
    <float two = {2.0}> { y = Pow(x, two) z = Pow(x, e) }
    """
    square, power = (parts_of(node, device) for node in model_of(body).graph)
    assert power.compute_us == pytest.approx(20 * square.compute_us)


def test_what_walks_over_operands_of_unlike_shapes_has_a_launch_of_its_own() -> None:
    device = replace(DEVICE, launches_us={"Add": 2.0, BROADCAST: 5.0})
    for shapes, us in (("2,3 2,3", 2), ("2,3 -", 2), ("1 1,1", 2), ("2,1 3", 5), ("2,3 1", 5)):
        operands = [[int(dim) for dim in s.split(",") if dim != "-"] for s in shapes.split()]
        values = [ir.val(str(n), ir.DataType.FLOAT, dims) for n, dims in enumerate(operands)]
        out = ir.val("out", ir.DataType.FLOAT, np.broadcast_shapes(*operands))
        node = ir.Node("", "Add", values, outputs=[out])
        assert parts_of(node, device).emit_us == us
        assert parts_of(node).emit_us == 1  # of a device that lists neither


def test_a_copy_of_the_nearest_element_is_no_interpolation() -> None:
    device = replace(DEVICE, element_operations={"Resize": 30.0, "Nearest": 3.0})
    body = """
    g (float[1, 1, 4, 4] x) => (y, z) <int64[4] s = {1, 1, 8, 8}> {
      y = Resize<mode = "nearest">(x, , , s)
      z = Resize<mode = "linear">(x, , , s)
    }
    """
    nearest, linear = (parts_of(node, device) for node in model_of(body).graph)
    assert linear.compute_us == pytest.approx(10 * nearest.compute_us)


def test_what_does_not_fit_into_a_cache_is_read_and_written_at_the_pace_of_the_memory() -> None:
    body = "g (float[1024] x) => (y) { y = Relu(x) }"
    parts = parts_of(model_of(body).graph[0])
    assert parts.read_us == pytest.approx(4096 / 1e9 * 1e6)
    assert parts.write_us == pytest.approx(4096 / 0.5e9 * 1e6)


def test_an_operator_that_runs_in_place_needs_the_cache_for_one_tensor_only() -> None:
    body = "g (float[1024] x) => (y) { h = Relu(x) y = Neg(h) }"
    _, second = model_of(body).graph
    parts = parts_of(second)
    assert parts.read_us == pytest.approx(4096 / 8e9 * 1e6)


def test_weights_come_from_the_level_that_holds_the_weights_of_the_graph() -> None:
    values = "1, " * 63 + "1"
    body = f"g (float[8, 16] x) => (y) <float[16, 4] w = {{{values}}}> {{ y = MatMul(x, w) }}"
    node = model_of(body).graph[0]
    near = parts_of(node)
    far = parts_of(node, weights=1 << 20)
    assert far.read_us - near.read_us == pytest.approx(256 * (1 / 1e9 - 1 / 8e9) * 1e6)


def test_a_right_side_that_is_no_constant_is_packed_first() -> None:
    packing = replace(DEVICE, packing=flat(0.1e9))
    longer = parts_of("MatMul(matrix, right)", packing).compute_us
    plain = parts_of("MatMul(matrix, right)").compute_us
    assert longer - plain == pytest.approx(4 * 16 * 4 / 0.1e9 * 1e6)


def test_moving_data_has_no_arithmetic_and_its_own_pace() -> None:
    parts = parts_of("Transpose<perm=[1, 0]>(matrix)")
    assert parts.compute_us == 0
    assert parts.read_us + parts.write_us == pytest.approx(2 * 512 / 0.1e9 * 1e6)


def test_a_view_costs_its_launch() -> None:
    assert parts_of("Flatten(image)") == Parts(emit_us=1.0)


def test_a_curve_of_an_operator_takes_the_place_of_that_of_its_class() -> None:
    device = replace(DEVICE, operators={"Conv": flat(1e9)})
    call = "Conv(image, dense)"
    assert parts_of(call, device).compute_us == pytest.approx(2 * parts_of(call).compute_us)


def test_matrix_units_are_faster_with_shorter_numbers() -> None:
    body = "g (float16[8, 16] x, float16[16, 4] w) => (y) { y = MatMul(x, w) }"
    parts = parts_of(model_of(body).graph[0])
    assert parts.compute_us == pytest.approx(parts_of("MatMul(matrix, right)").compute_us / 2)


def test_what_has_no_class_or_no_cost_has_no_prediction() -> None:
    assert predict(node_of("my.Op(matrix)"), Sizes(), DEVICE) is None


def test_fusing_saves_a_launch_and_a_round_through_memory() -> None:
    parts = "g (float[2, 3, 10, 10] x, float[4, 3, 3, 3] w) => (y) { h = Conv(x, w) y = Relu(h) }"
    fused = parts.replace("h = Conv(x, w) y = Relu(h)", "y = com.microsoft.FusedConv(x, w)")
    both = [parts_of(node) for node in model_of(parts).graph]
    one = parts_of(model_of(fused).graph[0])
    conv, relu = both
    assert one.emit_us == conv.emit_us == relu.emit_us
    assert relu.read_us > 0 < relu.write_us
    assert one == conv


def test_a_graph_adds_up_and_names_what_it_cannot_predict() -> None:
    model = model_of("g (float[64] x) => (y, z) { h = Relu(x) y = my.Op(h) z = Neg(h) }")
    identify(model)
    found = predict_graph(model.graph, Sizes(), DEVICE)
    assert [node.op_type for node in found.nodes] == ["Relu", "Neg"]
    assert found.unknown == ("n1",)
    assert found.total_us == pytest.approx(sum(node.parts.total_us for node in found.nodes))
    assert found.nodes[0].intensity == 64 / 512
