"""Opening models: all findings at once, three statuses, and one normal form."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from optimizer.errors import Cycle, Duplicate, InvalidGraph, LimitError, LoadError, Undefined
from optimizer.limits import Limits
from optimizer.model.graph import Model, bodies, node_id, walk_nodes
from optimizer.model.loader import load_bytes, load_path
from tests.corpus.cases import field

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '


def proto(text: str, head: str = HEAD) -> onnx.ModelProto:
    return parser.parse_model(head + text)


def load(model: onnx.ModelProto | str, limits: Limits | None = None) -> Model:
    data = (proto(model) if isinstance(model, str) else model).SerializeToString()
    return load_bytes(data, name="model.onnx", limits=limits or Limits())


def notes(model: Model) -> str:
    return " ".join(str(finding) for finding in model.findings if finding.severity == "note")


def operators(model: Model) -> list[str]:
    return [node.op_type for node in model.ir.graph]


def test_a_sound_model_opens_without_findings(tmp_path: Path) -> None:
    data = proto(
        "(float[n, 3] x) => (float[n, 3] y) <float[3] b = {1, 2, 3}> { [add] y = Add(x, b) }"
    ).SerializeToString()
    (tmp_path / "m.onnx").write_bytes(data)
    model = load_path(tmp_path / "m.onnx")
    assert model.name == "m.onnx"
    assert model.digest == hashlib.sha256(data).hexdigest()
    assert model.findings == ()
    assert model.statuses.viewable.ok
    assert model.statuses.optimizable.ok
    assert model.statuses.runnable.ok
    assert model.ir.graph.node(0).meta["id"] == "n0"


def test_a_missing_file_is_a_load_error(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no file"):
        load_path(tmp_path / "m.onnx")


def test_all_problems_are_reported_and_not_only_the_first() -> None:
    with pytest.raises(Undefined) as refused:
        load(
            "(float[2] x) => (float[2] y, float[2] z)"
            "{ a = Add(x, ghost)  b = Frobnicate(a)  y = Concat(b)  y2 = Relu(y, y) }"
        )
    text = " ".join(str(finding) for finding in refused.value.findings)
    for part in ("'ghost'", "'Frobnicate'", "'axis'", "Relu has 1 inputs", "output 'z'"):
        assert part in text
    assert "(4 more problems)" in refused.value.message


def test_a_million_faults_give_a_short_list() -> None:
    nodes = [helper.make_node("Relu", [f"ghost{i}"], [f"v{i}"]) for i in range(2000)]
    model = proto("(float[2] x) => (float[2] y) { y = Relu(x) }")
    model.graph.node.extend(nodes)
    with pytest.raises(Undefined) as refused:
        load(model)
    assert len(refused.value.findings) == 501
    assert "1,500 more findings" in refused.value.findings[-1].message


def test_a_cycle_is_shown_node_by_node() -> None:
    text = "(float[2] x) => (float[2] y) { [p] a = Add(x, b)  [q] b = Relu(a)  y = Relu(b) }"
    with pytest.raises(Cycle, match=r"node 'p' → node 'q' → node 'p'|node 'q' → node 'p' → "):
        load(text)


def test_a_cycle_through_a_body_is_found() -> None:
    with pytest.raises(Cycle):
        load(
            "(bool c, float[2] x) => (float[2] y) { a = If(c)"
            "<then_branch = t () => (float[2] p) { p = Relu(b) },"
            " else_branch = e () => (float[2] q) { q = Relu(x) }>  b = Abs(a)  y = Relu(b) }"
        )


def test_a_value_defined_twice_is_refused() -> None:
    with pytest.raises(Duplicate, match="'y'"):
        load("(float[2] x) => (float[2] y) { y = Relu(x)  y = Abs(x) }")


def test_nodes_out_of_order_are_sorted_stably() -> None:
    model = load(
        "(float[2] x) => (float[2] y)"
        "{ y = Add(b, c)  b = Relu(a)  c = Abs(a)  a = Neg(x)  unused = Exp(x) }"
    )
    assert operators(model) == ["Neg", "Relu", "Abs", "Add", "Exp"]
    assert "were sorted" in notes(model)


def test_a_body_that_uses_a_later_value_moves_its_node_behind_it() -> None:
    model = load(
        "(bool c, float[2] x) => (float[2] y) { y = If(c)"
        "<then_branch = t () => (float[2] p) { p = Relu(a) },"
        " else_branch = e () => (float[2] q) { q = Relu(x) }>  a = Abs(x) }"
    )
    assert operators(model) == ["Abs", "If"]


def test_initializers_of_ir_3_are_constants_and_no_inputs() -> None:
    text = "(float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }"
    model = load(proto(text, '<ir_version: 3, opset_import: ["" : 7]> g '))
    assert [value.name for value in model.ir.graph.inputs] == ["x"]
    assert model.ir.graph.initializers["w"].meta["id"] == "w0"
    assert model.ir.ir_version == 4
    assert "no input any more" in notes(model)


def test_initializers_that_a_caller_may_override_stay_inputs() -> None:
    text = "(float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }"
    model = load(text)
    assert [value.name for value in model.ir.graph.inputs] == ["x", "w"]
    assert model.ir.graph.initializers["w"].meta["id"] == "i1"


def test_every_node_gets_a_name_of_its_own() -> None:
    model = load(
        "(float[2] x) => (float[2] y)"
        "{ a = Relu(x)  [Relu_1] b = Relu(a)  [n] c = Abs(b)  [n] y = Abs(c) }"
    )
    names = [node.name for node in model.ir.graph]
    assert names == ["Relu_2", "Relu_1", "n", "n_1"]


def test_a_value_of_a_body_that_hides_another_is_renamed() -> None:
    model = load(
        "(bool c, float[2] x) => (float[2] y) { a = Neg(x)  y0 = If(c)"
        "<then_branch = t () => (float[2] a) { a = Relu(x) },"
        " else_branch = e () => (float[2] q) { q = Relu(a) }>  y = Add(y0, a) }"
    )
    hiding, other = bodies(model.ir.graph.node(1))
    assert hiding.outputs[0].name == "a_1"
    assert other.node(0).inputs[0] is model.ir.graph.node(0).outputs[0]
    assert "hid a value" in notes(model)


def test_a_body_that_returns_an_outer_value_returns_it_through_an_identity() -> None:
    model = load(
        "(bool c, float[2] x) => (float[2] y) { a = Neg(x)  y = If(c)"
        "<then_branch = t () => (float[2] a) { }, else_branch = e () => (float[2] q)"
        "{ q = Relu(a) }> }"
    )
    then_branch, _ = bodies(model.ir.graph.node(1))
    assert [node.op_type for node in then_branch] == ["Identity"]
    assert then_branch.outputs[0].name == "a_1"


def test_overlong_names_are_cut_but_those_of_inputs_are_refused() -> None:
    model = proto("(float[2] x) => (float[2] y) { a = Relu(x)  y = Abs(a) }")
    long = "N" * 5000
    model.graph.node[0].output[0] = model.graph.node[1].input[0] = long
    model.graph.node[0].name = long
    loaded = load(model)
    assert all(len(node.name or "") < 4096 for node in loaded.ir.graph)
    assert len(loaded.ir.graph.node(0).outputs[0].name or "") < 4096
    model.graph.input[0].name = model.graph.node[0].input[0] = long
    with pytest.raises(LimitError, match="5,000 characters"):
        load(model)


def test_sparse_initializers_become_dense() -> None:
    model = proto("(float[2, 2] x) => (float[2, 2] y) { y = Add(x, w) }")
    values = numpy_helper.from_array(np.array([5, 7], np.float32), "w")
    indices = numpy_helper.from_array(np.array([[0, 1], [1, 0]], np.int64), "i")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 2]))
    dense = load(model).ir.graph.initializers["w"].const_value
    assert dense is not None
    assert dense.numpy().tolist() == [[0, 5], [7, 0]]


def test_a_sparse_constant_becomes_a_dense_one() -> None:
    model = proto("(float[4] x) => (float[4] y) { y = Add(x, w) }")
    values = numpy_helper.from_array(np.array([5], np.float32), "w")
    indices = numpy_helper.from_array(np.array([3], np.int64), "i")
    sparse = helper.make_sparse_tensor(values, indices, [4])
    model.graph.node.insert(0, helper.make_node("Constant", [], ["w"], sparse_value=sparse))
    constant = load(model).ir.graph.node(0).attributes["value"].as_tensor()
    assert constant.numpy().tolist() == [0, 0, 0, 5]


def test_a_size_of_minus_one_is_an_unknown_size() -> None:
    model = proto("(float[n, 2] x) => (float[m, 2] y) { y = Relu(x) }")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    shape = load(model).ir.graph.inputs[0].shape
    assert shape is not None
    assert shape[0] == ir.SymbolicDim(None)


def map_output(model: onnx.ModelProto) -> None:
    kind = model.graph.output[0].type.map_type
    kind.key_type = TensorProto.INT64
    kind.value_type.tensor_type.elem_type = TensorProto.FLOAT


def unknown_domain(model: onnx.ModelProto) -> None:
    model.graph.node[0].domain = "com.example"
    model.opset_import.add(domain="com.example", version=1)


def newest_opset(model: onnx.ModelProto) -> None:
    model.opset_import[0].version = 28


def future_format(model: onnx.ModelProto) -> None:
    model.ir_version = 99


def no_outputs(model: onnx.ModelProto) -> None:
    del model.graph.output[:]


def extra_attribute(model: onnx.ModelProto) -> None:
    model.graph.node[0].attribute.append(helper.make_attribute("extra", 1))


@pytest.mark.parametrize(
    ("change", "optimizable", "reason"),
    [
        (map_output, False, "Map types"),
        (unknown_domain, True, "'com.example'"),
        (newest_opset, True, "at most, this is 28"),
        (future_format, False, "IR version 99"),
        (no_outputs, True, "nothing to run"),
        (extra_attribute, True, "no attribute 'extra'"),
    ],
)
def test_what_cannot_be_run_can_still_be_viewed(
    change: Callable[[onnx.ModelProto], None], optimizable: bool, reason: str
) -> None:
    model = proto("(float[2] x) => (float[2] y) { y = Relu(x) }")
    change(model)
    statuses = load(model).statuses
    assert statuses.viewable.ok
    assert statuses.optimizable.ok == optimizable
    assert not statuses.runnable.ok
    assert reason in statuses.runnable.reason


def test_names_that_are_not_utf8_are_shown_but_not_optimized() -> None:
    data = proto("(float[2] x) => (float[2] y) { [QQQQ] y = Relu(x) }").SerializeToString()
    model = load_bytes(data.replace(b"QQQQ", b"\xff\xfe\xc0\xaf"), name="m.onnx")
    assert "�" in (model.ir.graph.node(0).name or "")
    assert not model.statuses.optimizable.ok


def test_the_newest_format_is_lowered_where_nothing_needs_it() -> None:
    model = proto("(float[2] x) => (float[2] y) { y = Relu(x) }")
    model.ir_version = 14
    loaded = load(model)
    assert loaded.ir.ir_version == 13
    assert loaded.statuses.runnable.ok


def test_attributes_of_the_oldest_files_get_their_types() -> None:
    model = proto("(float[2] x) => (float[4] y) { y = Concat<axis = 0>(x, x) }")
    model.graph.node[0].attribute[0].ClearField("type")
    model.ir_version = 1
    del model.opset_import[:]
    attribute = load(model).ir.graph.node(0).attributes["axis"]
    assert attribute.as_int() == 0


def test_contradicting_types_are_named() -> None:
    with pytest.raises(InvalidGraph, match=r"'x' and 'k' of Add .* float32 and int64"):
        load("(float[2] x, int64[2] k) => (float[2] y) { y = Add(x, k) }")


def test_shapes_with_free_sizes_contradict_nothing() -> None:
    model = load("(float[n, 2] x, float[1, m] z) => (float[3, 2] y) { a = Add(x, z) y = Relu(a) }")
    assert model.findings[0].severity == "note"


def test_an_impossible_operand_is_refused_and_an_unlucky_one_only_not_run() -> None:
    with pytest.raises(InvalidGraph, match="step of the slice"):
        load(
            "(float[4] x) => (float[n] y)"
            "<int64[1] s = {0}, int64[1] e = {4}, int64[1] a = {0}, int64[1] t = {0}>"
            "{ y = Slice(x, s, e, a, t) }"
        )
    unlucky = load("(float[4] x) => (float[n] y) <int64[1] i = {9}> { y = Gather(x, i) }")
    assert "outside the axis" in unlucky.statuses.runnable.reason


def test_the_node_limit_counts_bodies() -> None:
    text = (
        "(bool c, float[2] x) => (float[2] y) { y = If(c)"
        "<then_branch = t () => (float[2] p) { p = Relu(x) },"
        " else_branch = e () => (float[2] q) { q = Relu(x) }> }"
    )
    assert len(list(walk_nodes(load(text, Limits(nodes=3)).ir.graph))) == 3
    with pytest.raises(LimitError, match="more than 2 nodes"):
        load(text, Limits(nodes=2))
    with pytest.raises(LimitError, match="nested more than 0 deep"):
        load(text, Limits(depth=0))


@pytest.mark.parametrize("part", [b"\x0a\x00", b"\x2a\x00", b"\x6a\x00"])
def test_millions_of_empty_parts_are_counted_before_anything_is_built(part: bytes) -> None:
    graph = part * 2_000_000  # nodes, initializers, value_info: two bytes each
    with pytest.raises(LimitError, match="more than"):
        load_bytes(b"\x08\x08" + field(7, graph), name="m.onnx")


def test_an_operator_set_of_an_absurd_version_is_no_crash() -> None:
    model = proto("(float[2] x) => (float[2] y) { y = Relu(x) }")
    model.graph.node[0].domain = "ai.onnx.ml"
    model.opset_import.add(domain="ai.onnx.ml", version=1 << 40)
    with pytest.raises(InvalidGraph, match="no operator 'Relu'"):
        load(model)


def test_loading_twice_gives_the_same_ids_and_names() -> None:
    text = "(float[2] x) => (float[2] y) { y = Add(b, c)  b = Relu(a)  c = Abs(a)  a = Neg(x) }"
    first, second = (
        [(node_id(node), node.name, node.op_type) for node in load(text).ir.graph] for _ in range(2)
    )
    assert first == second
