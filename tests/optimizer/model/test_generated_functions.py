"""Regions as functions of a model: one name each, read again as they are, run by anybody."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

from optimizer.dimension import symbol
from optimizer.isolation import within_worker
from optimizer.model.generated_functions import (
    generated_names,
    is_generated,
    kernel_bodies,
    kernel_body,
)
from optimizer.model.loader import load_bytes
from optimizer.model.region_functions import NoSignature, RegionFunction, region_function
from optimizer.model.symbolic import SymbolicValues
from optimizer.model.writer import to_bytes
from optimizer.operators.generated import GENERATED
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, rule
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.provenance import Provenance
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace_file import open_trace, save_trace
from optimizer.rules import Context, NewNode, Outcome, Replacement
from optimizer.verify import bisect, verify
from tests.optimizer.graphs import loaded, opened, parsed
from tests.optimizer.running import differences, feeds_for, run

LAYERS = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 2, S, S] x, float[N, 1, 1, S] m) => (float[N, S, S, 2] y)
<float h = {0.5}, float[2, 1, 1] w = {1, 2}>
{
   a = Mul (x, h)
   b = Add (a, m)
   p = Softmax <axis = -1> (b)
   q = Mul (p, w)
   c = Mul (q, h)
   d = Add (c, m)
   e = Softmax <axis = -1> (d)
   y = Transpose <perm = [0, 2, 3, 1]> (e)
}
"""


@dataclass(frozen=True)
class SoftmaxByKernel(Pass):
    """Scale, mask and Softmax as one generated node."""

    id = "softmax-by-kernel"
    family = "kernels"
    exactness = "reassociates"

    @rule("Softmax", name="MaskedSoftmax", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Everything up to a Softmax."""
        made = _masked(node, context)
        new = NewNode(made.proto.name, made.inputs, domain=GENERATED)
        functions = [made.function()]
        return Replacement(
            _upwards(node), {node.outputs[0]: new.output()}, "", [new], functions=functions
        )


def _upwards(softmax: ir.Node) -> list[ir.Node]:
    add = cast("ir.Value", softmax.inputs[0]).producer()
    assert add is not None
    mul = cast("ir.Value", add.inputs[0]).producer()
    assert mul is not None
    return [mul, add, softmax]


def _masked(softmax: ir.Node, context: Context) -> RegionFunction:
    nodes = _upwards(softmax)
    return region_function(nodes, softmax.outputs, context.symbolic.fact, context.opsets)


def _generated() -> Cursor:
    model = loaded(parsed(LAYERS))
    trace = optimize(model, Pipeline((SoftmaxByKernel(),)))
    assert [r.pass_id for r in trace.rewrites] == [SoftmaxByKernel.id] * 2, trace.failed
    return Cursor.at_end(trace)


@pytest.fixture(scope="module")
def written() -> bytes:
    return to_bytes(_generated().model)


def _proto(data: bytes) -> onnx.ModelProto:
    return onnx.load_model_from_string(data)


def test_equal_regions_are_one_function_and_another_number_makes_another(written: bytes) -> None:
    proto = _proto(written)
    calls = [node.op_type for node in proto.graph.node if node.domain == GENERATED]
    assert len(calls) == 2
    assert [function.name for function in proto.functions] == [calls[0]] == [calls[1]]
    other = parsed(LAYERS.replace("0.5", "0.25"))
    trace = optimize(loaded(other), Pipeline((SoftmaxByKernel(),)))
    assert next(iter(Cursor.at_end(trace).model.functions))[1] != calls[0]


def test_a_file_opens_with_its_generated_nodes_and_is_written_as_it_was(written: bytes) -> None:
    model = load_bytes(written, name="m")
    assert model.statuses.optimizable.ok
    assert sum(node.domain == GENERATED for node in model.ir.graph) == 2
    assert to_bytes(model.ir) == written


@pytest.mark.parametrize("change", ["body", "signature", "name"])
def test_a_function_that_only_has_our_domain_is_inlined(written: bytes, change: str) -> None:
    proto = _proto(written)
    function = proto.functions[0]
    assert is_generated(function)
    if change == "body":
        function.node[-1].op_type = "LogSoftmax"
    elif change == "signature":
        entry = function.metadata_props[0]
        entry.value = entry.value.replace("FLOAT", "DOUBLE")
    else:
        name = f"{function.name[:-1]}{'0' if function.name[-1] != '0' else '1'}"
        for node in proto.graph.node:
            node.op_type = name if node.op_type == function.name else node.op_type
        function.name = name
    model = load_bytes(proto.SerializeToString(), name="m")
    assert {node.domain for node in model.ir.graph} == {""}
    assert not model.ir.functions


def test_the_file_passes_onnx_and_computes_the_same_without_a_library(
    written: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    proto, source = _proto(written), parsed(LAYERS)
    onnx.checker.check_model(proto, full_check=True)
    onnx.shape_inference.infer_shapes(proto, strict_mode=True, check_type=True)
    feeds = feeds_for(source)
    wanted = run(source, feeds)
    assert differences(wanted, run(proto, feeds), exact=True) == []
    by_onnx = cast("list[np.ndarray]", ReferenceEvaluator(proto).run(None, dict(feeds)))
    assert differences(wanted, by_onnx, exact=False) == []
    assert verify(to_bytes(opened(source).ir), written, isolate=within_worker).verdict == "equal"


def test_a_trace_with_generated_nodes_is_undone_replayed_and_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cursor = _generated()
    first, last = cursor.materialize(1), cursor.materialize(2)
    source = cursor.materialize(0)
    assert not cursor.model.functions
    assert b"passlens" not in source
    assert cursor.materialize(1) == first
    assert len(cursor.model.functions) == 1
    save_trace(cursor, tmp_path / "a.trace")
    again = open_trace(tmp_path / "a.trace")
    assert again.materialize(2) == last
    origins = Provenance(again.trace).origins(again.trace.rewrites[0].added[0])
    assert origins == ("n0", "n1", "n2")
    found = bisect(again.materialize, 2, isolate=within_worker, seeds=1)
    assert found.step is None
    assert found.good is not None
    assert found.good.verdict == "equal"


def test_kernels_are_read_from_a_file_with_what_is_known_of_their_values(
    written: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(written)
    names = generated_names(path)
    assert [*kernel_bodies(path)] == [*names]
    body = kernel_bodies(path)[names[0]]
    assert names[0].startswith("Mul_Add_Softmax_")
    n, s = symbol("n0"), symbol("n1")
    shapes = [body.known(value).shape for value in (*body.inputs, *body.outputs)]
    assert shapes == [(n, 2, s, s), (n, 1, 1, s), (n, 2, s, s)]
    assert [node.op_type for node in body.nodes] == ["Constant", "Mul", "Add", "Softmax"]
    assert body.opset == 17


def test_what_is_no_model_has_no_kernels(tmp_path: Path, written: bytes) -> None:
    for data in (b"", b"\xff" * 99, b"not a model", written[:-9]):
        (tmp_path / "m.onnx").write_bytes(data)
        assert generated_names(tmp_path / "m.onnx") == ()


def test_sizes_that_only_occur_together_are_one_size_of_the_kernel() -> None:
    model = opened("""
    <ir_version: 8, opset_import: ["" : 17]>
    main (float[B, K, 8] x, int64[3] t) => (float[B, H, 8] y)
    {
      a = Exp (x)
      y = Reshape (a, t)
    }
    """)
    for value in (model.ir.graph.inputs[0], model.ir.graph.node(0).outputs[0]):
        value.shape = ir.Shape(["B", "past + new", 8])
    known = SymbolicValues(model.ir).fact
    nodes = [*model.ir.graph]
    made = region_function(nodes[:1], nodes[0].outputs, known, {"": 17})
    body = kernel_body(made.proto)
    assert [told.shape for told in body.signature.inputs] == [("n0", "n1", 8)]
    with pytest.raises(NoSignature, match="how large"):
        region_function(nodes, nodes[1].outputs, known, {"": 17})


def test_contents_of_sizes_that_are_read_are_told() -> None:
    model = opened("""
    <ir_version: 8, opset_import: ["" : 17]>
    main (float[B, S, 8] x) => (float[B, 2, S, 4] y)
    <int64[1] two = {2}, int64[1] four = {4}>
    {
      b = Shape <start = 0, end = 1> (x)
      s = Shape <start = 1, end = 2> (x)
      t = Concat <axis = 0> (b, s, two, four)
      a = Reshape (x, t)
      y = Transpose <perm = [0, 2, 1, 3]> (a)
    }
    """)
    known = SymbolicValues(model.ir).fact
    nodes = [*model.ir.graph][-2:]
    body = kernel_body(region_function(nodes, nodes[1].outputs, known, {"": 17}).proto)
    assert body.signature.inputs[1].content == ("n0", "n1", 2, 4)
    assert body.known(body.outputs[0]).shape == (symbol("n0"), 2, symbol("n1"), 4)
