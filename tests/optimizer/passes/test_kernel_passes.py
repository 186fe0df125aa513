"""Kernel passes together: each writes an operator its own way, and some undo each other."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
import onnx
import pytest

from optimizer.pipeline import Pipeline
from optimizer.registry import passes
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.what_if import what_if
from tests.optimizer.graphs import opened, parsed, proto_of
from tests.optimizer.running import differences, feeds_for, run

KERNELS = {p.id for p in passes() if p.family in ("kernels", "precision")}
NETWORK = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,6,6] x, float[2,2,5,8] q, float[2,2,8,5] k, float[2,2,5,8] v)
    => (float[2,4] y, float[2,2,5,8] z)
{
   h = Conv(x, kernel)
   pooled = GlobalAveragePool(h)
   flat = Flatten(pooled)
   product = MatMul(flat, weight)
   sum = Add(product, bias)
   hidden = Relu(sum)
   y = Gemm(hidden, weight, bias)
   scores = MatMul(q, k)
   scaled = Div(scores, scale)
   shares = Softmax<axis = -1>(scaled)
   z = MatMul(shares, v)
}
"""
SHAPES: dict[str, tuple[int, ...]] = {
    "kernel": (4, 3, 1, 1), "weight": (4, 4), "bias": (4,), "scale": (),
}  # fmt: skip


def network() -> onnx.ModelProto:
    """A convolution, two products and an attention, with constant weights."""
    proto = parsed(NETWORK)
    for name, shape in {
        "kernel": (4, 3, 1, 1),
        "weight": (4, 4),
        "bias": (4,),
        "scale": (),
    }.items():
        data = 0.25 * (np.arange(math.prod(shape)) % 7) - 0.6
        tensor = onnx.numpy_helper.from_array(data.reshape(shape).astype(np.float32), name)
        proto.graph.initializer.append(tensor)
    return proto


def rewritten(ids: Collection[str], *, lossy: bool) -> Trace:
    """The trace of these passes alone; what comes out runs and computes about the same."""
    model = opened(network())
    before = proto_of(model.ir)
    trace = optimize(model, Pipeline.of("none", enable=ids))
    feeds = feeds_for(before)
    found = differences(
        run(before, feeds), run(proto_of(model.ir), feeds), exact=False, lossy=lossy
    )
    assert not found, [f"{r.step} {r.pass_id} {r.root}" for r in trace.rewrites]
    return trace


@pytest.mark.parametrize("left_out", ["", "compute-in-16-bits"])
def test_all_kernel_passes_at_once_come_to_an_end_at_a_graph_that_computes_about_the_same(
    left_out: str,
) -> None:
    trace = rewritten(KERNELS - {left_out}, lossy=True)
    assert trace.steps >= 4
    assert not trace.failed
    assert not trace.stopped


def test_what_a_lowering_takes_apart_the_other_pass_does_not_put_together() -> None:
    trace = rewritten({"write-gemm-as-matmul", "write-matmul-as-gemm"}, lossy=False)
    assert not trace.stopped
    assert {rewrite.pass_id for rewrite in trace.rewrites} == {"write-gemm-as-matmul"}
    assert {one.pass_id for one in trace.declined} == {"write-matmul-as-gemm"}
    assert all("would take it apart" in one.reason for one in trace.declined)


def test_that_it_would_be_taken_apart_is_said_before_a_run_too() -> None:
    pipeline = Pipeline.of("none", enable={"write-gemm-as-matmul", "write-matmul-as-gemm"})
    found = {one.pass_id: one for one in what_if(
        opened(network()).ir, pipeline.passes, pipeline, seconds=60
    )}  # fmt: skip
    assert found["write-gemm-as-matmul"].matches == 1
    put_together = found["write-matmul-as-gemm"]
    assert put_together.matches == 0
    assert any("would take it apart" in one.reason for one in put_together.near)
