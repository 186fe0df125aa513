"""Repeats as functions of a model: found, called, read again as they are, and taken apart."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings

from optimizer.constants import constant_of, is_constant_node
from optimizer.isolation import within_worker
from optimizer.model.loader import load_bytes, load_path
from optimizer.model.outlined_functions import is_outlined
from optimizer.model.symbolic import SymbolicValues
from optimizer.model.writer import to_bytes
from optimizer.operators.outlined import OUTLINED, outlined_title
from optimizer.passes.structure.inline_outlined import InlineOutlined
from optimizer.passes.structure.outline_repeats import OutlineRepeats
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.provenance import Provenance
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace_file import open_trace, save_trace
from optimizer.verify import bisect, verify
from studio.gallery import gallery
from tests.lanes import slow_but
from tests.optimizer.graphs import loaded, opened, parsed, proto_of
from tests.optimizer.passes import golden
from tests.optimizer.passes.test_equivalence import FEW
from tests.optimizer.random_blocks import ALL_PATTERNS
from tests.optimizer.random_graphs import models
from tests.optimizer.random_seeds import Seeds
from tests.optimizer.running import differences, feeds_for, run

OUTLINE, INLINE = Pipeline((OutlineRepeats(),)), Pipeline((InlineOutlined(),))
LAYERS = {"bert": (12, 26), "llama": (3, 58), "vit": (12, 27), "whisper-encoder": (4, 26)}
"""Sample networks: how many layers are alike, and their nodes."""

BLOCKS = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 2, S, S] x, float[N, 1, 1, S] m) => (float[N, S, S, 2] y, float[N, 2, S, S] p)
<float h = {0.5}, float[2, 1, 1] w = {1, 2}, float[2, 1, 1] v = {3, 4}>
{
   ["/net/layer.0/Mul"] a = Mul (x, h)
   ["/net/layer.0/Add"] b = Add (a, m)
   ["/net/layer.0/Softmax"] p = Softmax <axis = -1> (b)
   ["/net/layer.0/Mul_1"] q = Mul (p, w)
   ["/net/layer.0/Relu"] r = Relu (q)
   ["/net/layer.1/Mul"] c = Mul (r, h)
   ["/net/layer.1/Add"] d = Add (c, m)
   ["/net/layer.1/Softmax"] e = Softmax <axis = -1> (d)
   ["/net/layer.1/Mul_1"] f = Mul (e, v)
   ["/net/layer.1/Relu"] g = Relu (f)
   y = Transpose <perm = [0, 2, 3, 1]> (g)
}
"""


def computed(graph: ir.Graph) -> list[str]:
    """What a graph computes, whatever its values are called and in whichever order.

    A digest for each node, of its operator, attributes and inputs, constants by their content; the
    outputs come last.
    """
    known = {value: f"input {value.name}" for value in graph.inputs}
    found: list[str] = []
    for node in (node for node in graph if not is_constant_node(node)):
        inputs = [None if value is None else _told(value, known) for value in node.inputs]
        attributes = sorted(
            ir.serde.serialize_attribute(one).SerializeToString(deterministic=True)
            for one in node.attributes.values()
        )
        told = (node.domain, node.op_type, inputs, attributes, len(node.outputs))
        found.append(sha256(repr(told).encode()).hexdigest())
        known |= {value: f"{found[-1]} {index}" for index, value in enumerate(node.outputs)}
    outputs = [f"{value.name} {value.dtype} {_told(value, known)}" for value in graph.outputs]
    return [*sorted(found), *outputs]


def _told(value: ir.Value, known: dict[ir.Value, str]) -> str:
    tensor = constant_of(value)
    if tensor is None:
        return known[value]
    content = sha256(tensor.tobytes()).hexdigest()
    return f"{tensor.dtype} {tuple(tensor.shape.numpy())} {content}"


def calls(model: ir.Model) -> list[ir.Node]:
    return [node for node in model.graph if node.domain == OUTLINED]


@pytest.fixture(scope="module")
def outlined() -> bytes:
    model = loaded(parsed(BLOCKS))
    trace = optimize(model, OUTLINE)
    assert [r.pass_id for r in trace.rewrites] == [OutlineRepeats.id] * 2, trace.failed
    return to_bytes(model.ir)


@pytest.mark.parametrize("name", slow_but(("vit", "llama"), LAYERS))
def test_the_layers_of_a_sample_network_are_one_function_and_inlined_it_is_as_before(
    name: str,
) -> None:
    model = load_path(gallery.open_path(name))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    optimize(model, Pipeline.of("default"))
    model = load_bytes(to_bytes(model.ir), name=name)
    before = computed(model.ir.graph)
    optimize(model, OUTLINE)
    counts = [
        (sum(call.op_type == function.name for call in calls(model.ir)), len(_own(function)))
        for function in model.ir.functions.values()
    ]
    assert max(counts, key=lambda pair: pair[0] * pair[1]) == LAYERS[name]
    assert len([*model.ir.graph]) < len(before) / 2
    again = load_bytes(to_bytes(model.ir), name=name)
    assert len(calls(again.ir)) == len(calls(model.ir))
    trace = optimize(again, INLINE)
    assert not trace.failed
    assert computed(again.ir.graph) == before
    assert not again.ir.functions


def _own(function: ir.Function) -> list[ir.Node]:
    return [node for node in function if not is_constant_node(node)]


@settings(FEW)
@given(proto=models(Seeds(OutlineRepeats, golden.cases()).around(ALL_PATTERNS), [11, 13, 17, 21]))
def test_what_is_outlined_in_a_random_graph_and_inlined_again_is_as_it_was(
    proto: onnx.ModelProto,
) -> None:
    model = opened(proto)
    before = computed(model.ir.graph)
    optimize(model, OUTLINE)
    again = opened(proto_of(model.ir))
    optimize(again, INLINE)
    assert computed(again.ir.graph) == before


def test_nodes_get_back_the_names_that_they_had_in_their_scopes(outlined: bytes) -> None:
    model = load_bytes(outlined, name="m")
    assert [call.name for call in calls(model.ir)] == ["/net/layer.0", "/net/layer.1"]
    assert {outlined_title(call.op_type) for call in calls(model.ir)} == {"net_layer"}
    optimize(model, INLINE)
    source = [node.name for node in loaded(parsed(BLOCKS)).ir.graph]
    assert [node.name for node in model.ir.graph] == source


def test_an_output_of_one_occurrence_is_an_output_of_the_function(outlined: bytes) -> None:
    first, second = calls(load_bytes(outlined, name="m").ir)
    assert first.outputs[0].name == "p"
    assert len(second.outputs) == 2
    assert not second.outputs[0].uses()


def test_weights_are_inputs_and_a_number_that_is_the_same_everywhere_is_not(
    outlined: bytes,
) -> None:
    model = load_bytes(outlined, name="m")
    first, second = calls(model.ir)
    assert [value.name for value in first.inputs if value] == ["x", "m", "w"]
    assert [value.name for value in second.inputs if value][1:] == ["m", "v"]
    assert {*model.ir.graph.initializers} == {"w", "v"}


def test_a_file_opens_with_its_calls_and_is_written_as_it_was(outlined: bytes) -> None:
    model = load_bytes(outlined, name="m")
    assert model.statuses.optimizable.ok
    assert len(calls(model.ir)) == 2
    assert to_bytes(model.ir) == outlined


@pytest.mark.parametrize("change", ["body", "name", "call"])
def test_a_function_that_only_has_our_domain_is_inlined(outlined: bytes, change: str) -> None:
    proto = onnx.load_model_from_string(outlined)
    function = proto.functions[0]
    assert is_outlined(function, ())
    if change == "body":
        function.node[-1].op_type = "Neg"
    elif change == "call":
        function.node[-1].domain = OUTLINED
        assert not is_outlined(function, ())
        return
    else:
        for node in proto.graph.node:
            node.op_type = "other" if node.op_type == function.name else node.op_type
        function.name = "other"
    model = load_bytes(proto.SerializeToString(), name="m")
    assert {node.domain for node in model.ir.graph} == {""}
    assert not model.ir.functions


def test_the_file_passes_onnx_and_computes_the_same(
    outlined: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    proto, source = onnx.load_model_from_string(outlined), parsed(BLOCKS)
    onnx.checker.check_model(proto, full_check=True)
    feeds = feeds_for(source)
    assert differences(run(source, feeds), run(proto, feeds), exact=True) == []
    source_bytes = to_bytes(opened(source).ir)
    assert verify(source_bytes, outlined, isolate=within_worker).verdict == "equal"


def test_steps_are_undone_replayed_vetoed_and_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = loaded(parsed(BLOCKS))
    cursor = Cursor.at_end(optimize(model, OUTLINE))
    last, source = cursor.materialize(2), cursor.materialize(0)
    assert not cursor.model.functions
    assert b"passlens" not in source
    assert len(onnx.load_model_from_string(cursor.materialize(1)).graph.node) == 7
    save_trace(cursor, tmp_path / "a.trace")
    again = open_trace(tmp_path / "a.trace")
    assert again.materialize(2) == last
    origins = Provenance(again.trace).origins(again.trace.rewrites[1].added[0])
    assert origins == ("n5", "n6", "n7", "n8", "n9")
    found = bisect(again.materialize, 2, isolate=within_worker, seeds=1)
    assert found.good is not None
    assert found.good.verdict == "equal"
    first = again.trace.rewrites[0].match
    vetoed = optimize(loaded(parsed(BLOCKS)), Pipeline(OUTLINE.passes, vetoed=frozenset([first])))
    assert vetoed.steps == 1


def test_a_trace_in_which_a_function_is_dropped_is_undone_and_opened_again(
    outlined: bytes, tmp_path: Path
) -> None:
    model = load_bytes(outlined, name="m")
    cursor = Cursor.at_end(optimize(model, INLINE))
    inlined = cursor.materialize(2)
    assert cursor.materialize(0) == outlined
    assert len(onnx.load_model_from_string(cursor.materialize(1)).functions) == 1
    save_trace(cursor, tmp_path / "a.trace")
    again = open_trace(tmp_path / "a.trace")
    assert again.materialize(2) == inlined
    assert again.materialize(0) == outlined


def test_both_passes_together_optimize_inside_and_outline_again(outlined: bytes) -> None:
    model = load_bytes(outlined, name="m")
    pipeline = Pipeline((InlineOutlined(), *Pipeline.of("default").passes, OutlineRepeats()))
    trace = optimize(model, pipeline)
    assert not trace.stopped
    assert len(calls(model.ir)) == 2
    source = parsed(BLOCKS)
    feeds = feeds_for(source)
    assert differences(run(source, feeds), run(proto_of(model.ir), feeds), exact=False) == []
