"""Assigned layouts: every step runs, verifies, is undone and is kept in a trace."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest

from optimizer.cost.sizes import Sizes
from optimizer.errors import StudioError
from optimizer.layout.formats import Blocks, wastes
from optimizer.layout.inference import infer_layouts
from optimizer.layout.planning import assign
from optimizer.layout.targets import TARGETS, target_of
from optimizer.legalisation import legalise
from optimizer.model.loader import load_bytes
from optimizer.model.symbolic import SymbolicValues
from optimizer.model.writer import to_bytes
from optimizer.passes.layout.assign_layout import AssignLayout
from optimizer.passes.layout.cancel_conversions import CancelConversions
from optimizer.passes.layout.reduce_transposes import ReduceTransposes
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.trace_file import open_trace, save_trace
from tests.optimizer.graphs import loaded, opened, parsed, proto_of
from tests.optimizer.running import differences, feeds_for, run

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
NETWORK = """main (float[2, 20, 32, 32] x) => (float[2, 40, 32, 32] y, float[2, 20, 32, 32] z)
{
   shape = Constant <value_ints = [20, 20, 3, 3]> ()
   one = Constant <value_ints = [40, 20, 1, 1]> ()
   w = ConstantOfShape <value = float[1] {0.03}> (shape)
   v = ConstantOfShape <value = float[1] {0.1}> (one)
   a = Conv <pads = [1, 1, 1, 1]> (x, w)
   b = Relu (a)
   c = Conv <pads = [1, 1, 1, 1]> (b, w)
   d = Add (b, c)
   e = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (d)
   m = GlobalAveragePool (e)
   g = Mul (e, m)
   p = Conv (g, v)
   q = Concat <axis = 1> (e, e)
   y = Add (p, q)
   z = Sigmoid (e)
}"""
WIDE = NETWORK.replace("20", "32").replace("40", "64")
MIXED = """main (float[2, 24, 24, 32] x) => (float[2, 24, 24, 32] y, float[2, 24, 24, 32] z)
<float[32] scale = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}>
{
   shape = Constant <value_ints = [32, 1, 7, 7]> ()
   w = ConstantOfShape <value = float[1] {0.02}> (shape)
   n = LayerNormalization (x, scale)
   t = Transpose <perm = [0, 3, 1, 2]> (n)
   c = Conv <group = 32, pads = [3, 3, 3, 3]> (t, w)
   u = Transpose <perm = [0, 2, 3, 1]> (c)
   l = LayerNormalization (u, scale)
   m = Mul (l, scale)
   v = Transpose <perm = [0, 3, 1, 2]> (m)
   r = Add (t, v)
   k = Transpose <perm = [0, 2, 3, 1]> (r)
   y = LayerNormalization (k, scale)
   z = Neg (n)
}"""


def pipeline(target: str) -> Pipeline:
    """What `passlens layout` runs, without the default passes but those it needs."""
    wanted = Pipeline.of("none", enable=["fold-constants", "merge-transposes"])
    return Pipeline((*wanted.passes, AssignLayout(target=target), CancelConversions()))


def assigned(text: str, target: str) -> tuple[onnx.ModelProto, onnx.ModelProto, Trace]:
    model = opened(HEAD + text)
    before = proto_of(model.ir)
    trace = optimize(model, pipeline(target))
    return before, proto_of(model.ir), trace


def operators(proto: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in proto.graph.node)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("text", [NETWORK, MIXED], ids=["network", "mixed"])
def test_a_network_computes_the_same_in_every_layout(text: str, target: str) -> None:
    before, after, trace = assigned(WIDE if (text, target) == (NETWORK, "cpu") else text, target)
    assert not trace.failed
    feeds = feeds_for(before)
    assert not differences(run(before, feeds), run(after, feeds), exact=False)
    onnx.checker.check_model(after)
    assert "assign-layout" in {rewrite.pass_id for rewrite in trace.rewrites}


def test_a_network_for_a_cube_is_converted_at_its_borders_alone() -> None:
    _, after, trace = assigned(NETWORK, "nc1hwc0")
    found = operators(after)
    assert found["BlockedConv"] == 3
    assert not found["Conv"]
    assert found["TransData"] <= 2
    first = next(r for r in trace.rewrites if r.rule == "NodeInAnotherLayout")
    assert "is converted from NCHW" in first.reason
    assert "KiB moved" in first.reason
    assert "µs" in first.reason


def test_transposes_of_a_mixed_export_go_where_images_lie_with_channels_last() -> None:
    before, after, _ = assigned(MIXED, "cuda")
    assert operators(before)["Transpose"] == 4
    assert operators(after)["Transpose"] == 0
    assert operators(after)["NhwcConv"] == 1


@pytest.mark.parametrize("target", TARGETS)
def test_no_target_adds_a_transpose_to_a_mixed_export(target: str) -> None:
    before, after, _ = assigned(MIXED, target)
    assert operators(after)["Transpose"] <= operators(before)["Transpose"]


@pytest.mark.parametrize(
    ("declared", "left"), [(CancelConversions, 0), (ReduceTransposes, 2)], ids=["cancel", "reduce"]
)
def test_texts_which_have_no_size_in_bytes_are_moved_less_too(
    declared: type[Pass], left: int
) -> None:
    model = opened(
        HEAD
        + """main (string[2, 3, 4] x) => (string[2, 3, 4] y)
{
   a = Transpose <perm = [1, 2, 0]> (x)
   b = Transpose <perm = [2, 0, 1]> (a)
   y = Identity (b)
}"""
    )
    trace = optimize(model, Pipeline((declared(),)))
    assert not trace.failed
    assert trace.rewrites
    assert operators(proto_of(model.ir))["Transpose"] == left


def test_a_trace_with_functions_is_kept_replayed_and_undone(tmp_path: Path) -> None:
    model = loaded(parsed(HEAD + NETWORK))
    source = to_bytes(model.ir)
    trace = optimize(model, pipeline("nc1hwc0"))
    result = to_bytes(model.ir)
    save_trace(Cursor.at_end(trace), tmp_path / "run.trace")
    cursor = open_trace(tmp_path / "run.trace")
    assert cursor.materialize(0) == source
    feeds = feeds_for(onnx.load_model_from_string(source))
    wanted = run(onnx.load_model_from_string(source), feeds)
    for step in range(1, cursor.trace.steps + 1):
        proto = onnx.load_model_from_string(cursor.materialize(step))
        assert not differences(wanted, run(proto, feeds), exact=False), step
    assert cursor.materialize(cursor.trace.steps) == result
    assert cursor.materialize(0) == source
    again = load_bytes(result, name="m")
    assert any(node.op_type == "BlockedConv" for node in again.ir.graph)


@pytest.mark.parametrize(
    ("target", "tag"), [("cuda", "NHWC"), ("nc1hwc0", "NC1HWC0"), ("cpu", "NCHWc16")]
)
def test_values_of_assigned_graphs_have_their_tags(target: str, tag: str) -> None:
    _, after, _ = assigned(WIDE, target)
    model = opened(after)
    found = infer_layouts(model.ir.graph)
    assert tag in found.of.values()
    assert not found.contradictions


NHWC_PROFILE = """# of-nhwc
title = "Convolutions with channels last"
everything = true

[[operators]]
names = "Conv"
layouts = ["NHWC"]
"""


@pytest.mark.parametrize(
    ("profile", "moved", "lacking"),
    [("cube", ("BlockedConv", 3), "Conv"), (NHWC_PROFILE, ("NhwcConv", 2), "NhwcMaxPool")],
    ids=["blocks", "channels last"],
)
def test_a_model_for_a_profile_works_in_the_layouts_that_the_profile_has(
    profile: str, moved: tuple[str, int], lacking: str
) -> None:
    model = opened(HEAD + NETWORK)
    before = proto_of(model.ir)
    found = legalise(model, profile)
    after = proto_of(model.ir)
    assert not found.missing
    assert moved in operators(after).items()
    assert not operators(after)[lacking]
    feeds = feeds_for(before)
    assert not differences(run(before, feeds), run(after, feeds), exact=False)


def test_all_in_nchw_has_a_price_beside_that_of_a_mixed_export() -> None:
    model = opened(HEAD + MIXED)
    optimize(model, Pipeline.of("none", enable=["fold-constants"]))
    cuda, cube = (
        assign(model.ir.graph, TARGETS[target], SymbolicValues(model.ir), 17)
        for target in ("cuda", "nc1hwc0")
    )
    assert cuda.first_us is not None
    assert cuda.written_us is not None
    assert min(cuda.first_us, cuda.written_us) > cuda.assignment.cost
    assert cuda.first_us != cuda.written_us
    assert cube.first_us is None  # no convolution of a cube reads NCHW


def test_an_image_of_a_single_block_has_the_tag_of_blocks() -> None:
    _, after, _ = assigned(NETWORK.replace("20", "16").replace("40", "16"), "nc1hwc0")
    tags = infer_layouts(opened(after).ir.graph).of.values()
    assert {tag for tag in tags if "C1" in tag} == {"NC1HWC0"}


def test_channels_that_are_free_are_told_with_their_place() -> None:
    model = opened(
        HEAD
        + """main (float[1, C, 8, 8] x) => (float[1, C, 8, 8] y)
        { y = AveragePool <kernel_shape = [1, 1]> (x) }"""
    )
    plan = assign(model.ir.graph, TARGETS["nc1hwc0"], SymbolicValues(model.ir), 17)
    assert not plan.moved
    assert [*plan.reasons.values()] == ["the number of channels is free, and blocks need a number"]


def test_what_fills_up_blocks_is_counted_as_by_hand() -> None:
    model = opened(
        HEAD
        + """main (float[2, 20, 3, 5] a, float16[1, 3, 7, 7] b, int8[1, 33, 2, 2] c, float[8, 4] d)
        => (float[2, 20, 3, 5] y) { y = Relu (a) }"""
    )
    inputs = dict.fromkeys(model.ir.graph.inputs, "NCHW")
    found = wastes(inputs, TARGETS["nc1hwc0"].blocks, Sizes())
    assert [(one.name, one.bytes) for one in found] == [
        ("a", 2 * 12 * 15 * 4),
        ("b", 13 * 49 * 2),
        ("c", 31 * 4),
    ]
    data = np.zeros((2, 20, 3, 5), np.float32)
    assert Blocks(20, 16).applied(data).nbytes == found[0].filled
    assert found[0].share == pytest.approx(0.6)
    last = wastes({model.ir.graph.inputs[0]: "NHWC"}, TARGETS["nc1hwc0"].blocks, Sizes())
    assert last[0].filled == 2 * 20 * 3 * 16 * 4


def test_a_target_with_a_typo_is_one_sentence() -> None:
    with pytest.raises(StudioError, match="no layout target 'cdua'; there are cpu, cuda, nc1hwc0"):
        target_of("cdua")
    with pytest.raises(StudioError, match="no blocks of 12 channels"):
        target_of("cpu", block=12)
