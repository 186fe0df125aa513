"""Attention one head at a time: what it computes, and which kernels are made around it."""

from __future__ import annotations

import pytest

from optimizer.operators.generated import GENERATED
from optimizer.passes.kernels.attention_by_head import ComputeAttentionByHead
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.running import differences, feeds_for, run

LAYER = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1,{rows},12] x, float[12,12] wq, float[12,12] wk, float[12,12] wv)
    => (float[1,{rows},12] y)
<float[12] b = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, float s = {{0.5}},
 int64[4] apart = {{1, {rows}, 4, 3}}, int64[3] together = {{1, {rows}, 12}}>
{{
   q = MatMul(x, wq)
   q1 = Add(q, b)
   q2 = Mul(q1, s)
   q3 = Reshape(q2, apart)
   queries = Transpose<perm = [0, 2, 1, 3]>(q3)
   k = MatMul(x, wk)
   k1 = Reshape(k, apart)
   keys = Transpose<perm = [0, 2, 3, 1]>(k1)
   v = MatMul(x, wv)
   v1 = Add(v, b)
   v2 = Reshape(v1, apart)
   values = Transpose<perm = [0, 2, 1, 3]>(v2)
   scores = MatMul(queries, keys)
   shares = Softmax<axis = -1>(scores)
   heads = MatMul(shares, values)
   aside = Transpose<perm = [0, 2, 1, 3]>(heads)
   y = Reshape(aside, together)
}}
"""


@pytest.mark.parametrize("rows", [7, 96])
def test_heads_one_at_a_time_add_up_to_the_same_bits(rows: int) -> None:
    model = opened(LAYER.format(rows=rows))
    source = proto_of(model.ir)
    cache_bytes = 3 * 4 * rows * rows
    trace = optimize(model, Pipeline((ComputeAttentionByHead(cache_bytes=cache_bytes),)))
    assert trace.steps == 1
    feeds = feeds_for(source)
    assert not differences(run(source, feeds), run(proto_of(model.ir), feeds), exact=True)


def test_the_kernel_that_adds_biases_writes_the_heads_apart() -> None:
    model = opened(LAYER.format(rows=1500))
    trace = optimize(model, Pipeline.of("generated"))
    assert "compute-attention-by-head" in {rewrite.pass_id for rewrite in trace.rewrites}
    (kernel,) = [node for node in model.ir.graph if node.domain == GENERATED]
    readers = [[use.node.op_type for use in value.uses()] for value in kernel.outputs]
    assert readers == [["MatMul"]] * 8, "four heads of queries, four of values"
    left = [node.op_type for node in model.ir.graph if node.domain != GENERATED]
    assert sorted({*left}) == ["Concat", "MatMul", "Softmax", "Split", "Transpose"]
    assert left.count("Transpose") == 4, "keys, each inside its product"
    assert left.count("Split") == 1, "that of the keys"


def test_scores_that_fit_into_a_cache_stay_together_and_the_trace_says_so() -> None:
    model = opened(LAYER.format(rows=1000))
    trace = optimize(model, Pipeline.of("generated"))
    assert [node.op_type for node in model.ir.graph].count("Softmax") == 1
    assert any("fit into a cache: 15.3 MiB" in declined.reason for declined in trace.declined)
