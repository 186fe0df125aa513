"""Which regions are found, which are not, and what is said of both."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.fusion.planning import FusionPlan, plan_fusion
from optimizer.fusion.region import Region
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import loaded, opened, proto_of
from tests.optimizer.running import differences, feeds_for, run

HEADER = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>\n'


def planned(text: str) -> FusionPlan:
    model = opened(HEADER + text)
    return plan_fusion(model.ir.graph, SymbolicValues(model.ir).fact)


def operators(region: Region) -> list[str]:
    return [node.op_type for node in region.nodes]


def test_a_better_kernel_is_told_from_a_fusion() -> None:
    plan = planned("""g (float[64, 768] x, float[64, 768] r, float[768] g)
=> (float[64, 768] y, float[64, 768] z) {
    y = com.microsoft.SkipLayerNormalization(x, x, g)
    a = Exp(r)
    z = Mul(a, r)
}""")
    kinds = {region.nodes[0].op_type: (region.kind, region.reason) for region in plan.regions}
    kind, reason = kinds["SkipLayerNormalization"]
    assert kind == "better kernel"
    assert "is slow: 295 µs predicted apart" in reason
    assert kinds["Exp"][0] == "fusion"
    assert "2 nodes as one kernel" in kinds["Exp"][1]


def test_an_output_of_another_shape_is_computed_again_where_that_is_cheap() -> None:
    plan = planned("""g (float[512, 512] x, float[512] m) => (float[512, 512] y, float[512] k) {
    k = Neg(m)
    a = Mul(x, k)
    y = Exp(a)
}""")
    (region,) = plan.regions
    assert operators(region) == ["Neg", "Mul", "Exp"]
    assert [value.name for value in region.outputs] == ["y"]
    assert region.price.launches == 2, "Neg stays for the other reader"


def test_a_reduction_that_is_read_outside_is_a_part_of_its_own() -> None:
    plan = planned("""g (float[512, 512] x) => (float[512, 512] y, float[512, 1] r) {
    e = Exp(x)
    f = Mul(e, x)
    y = Sqrt(f)
    r = ReduceMax<axes = [1], keepdims = 1>(y)
}""")
    assert [operators(region) for region in plan.regions] == [["Exp", "Mul", "Sqrt"]]


def test_siblings_that_read_the_same_are_one_kernel() -> None:
    plan = planned("""g (float[8, 32] x) => (float[8, 32] y, float[8, 32] z) {
    a = Exp(x)
    y = Neg(a)
    b = Sqrt(x)
    z = Abs(b)
}""")
    (region,) = plan.regions
    assert sorted(operators(region)) == ["Abs", "Exp", "Neg", "Sqrt"]
    assert len(region.outputs) == 2


def test_a_region_has_no_way_out_and_back_in() -> None:
    plan = planned("""g (float[64, 64] x) => (float[64, 64] y) {
    a = Exp(x)
    b = Neg(a)
    c = MatMul(b, b)
    d = Sqrt(c)
    y = Add(d, b)
}""")
    assert [operators(region) for region in plan.regions] == [["Exp", "Neg"], ["Sqrt", "Add"]]


def test_siblings_that_reduce_along_other_axes_are_two_kernels() -> None:
    plan = planned("""g (float[64, 64] x) => (float[64, 64] y, float[64, 64] z) {
    a = Softmax<axis = 0>(x)
    y = Neg(a)
    b = Softmax<axis = 1>(x)
    z = Abs(b)
}""")
    assert [operators(region) for region in plan.regions] == [
        ["Softmax", "Neg"],
        ["Softmax", "Abs"],
    ]


def test_siblings_that_move_axes_elsewhere_are_two_kernels() -> None:
    """As queries and keys of attention, where a row is as long as a head."""
    plan = planned("""g (float[64, 768] x, float[768, 768] w, float[768, 768] v, float[768] b)
=> (float[12, 64, 64] y, float[12, 64, 64] z) <int64[3] heads = {64, 12, 64}> {
    q = MatMul(x, w)
    biased = Add(q, b)
    parts = Reshape(biased, heads)
    y = Transpose<perm = [1, 0, 2]>(parts)
    k = MatMul(x, v)
    other = Add(k, b)
    halves = Reshape(other, heads)
    z = Transpose<perm = [1, 2, 0]>(halves)
}""")
    assert [operators(region) for region in plan.regions] == [["Add", "Reshape", "Transpose"]] * 2


def test_a_second_run_leaves_generated_nodes_alone() -> None:
    model = opened(
        HEADER
        + """g (float[N, 64] x) => (float[N, 64] y) {
    a = Exp(x)
    b = Neg(a)
    c = Softmax(b)
    y = Mul(c, x)
}"""
    )
    assert optimize(model, Pipeline.of("generated")).steps == 1
    again = loaded(proto_of(model.ir))
    assert optimize(again, Pipeline.of("generated")).steps == 0


def test_free_sizes_stay_free_and_nodes_of_bodies_are_left_alone() -> None:
    plan = planned("""g (float[N, S] x, bool t) => (float[N, S] y) {
    a = Exp(x)
    b = Neg(a)
    y = If(t) <
        then_branch = yes () => (float[N, S] p) {
            u = Exp(b)
            p = Neg(u)
        },
        else_branch = no () => (float[N, S] q) { q = Identity(b) }
    >
}""")
    assert [operators(region) for region in plan.regions] == [["Exp", "Neg"]]
    assert isinstance(plan.regions[0].outputs[0], ir.Value)


def test_a_region_without_a_schedule_is_refused_with_the_reason_for_that() -> None:
    doubled = "\n".join(f"v{i + 1} = Add(v{i}, v{i})" for i in range(16))
    plan = planned(f"""g (float[512, 512] v0) => (float[512, 512] y) {{
    {doubled}
    y = Neg(v16)
}}""")
    assert not plan.regions
    (reason, _) = next(iter(plan.refused.values()))
    assert "instructions in one loop" in reason


APART = """g (float[64, 64] x, float[64, 64] w) => (float[64, 64] y, float[64, 64] z) {
    a = Exp(x)
    p = MatMul(a, w)
    z = Relu(p)
    q = MatMul(x, w)
    b = Mul(a, q)
    y = Neg(b)
}"""


def test_readers_of_a_kernel_that_stand_before_it_wait_for_it() -> None:
    model = opened(HEADER + APART)
    source = proto_of(model.ir)
    trace = optimize(model, Pipeline.of("none", enable=["generate-kernels"]))
    assert trace.steps == 1
    kinds = [node.op_type.split("_")[0] for node in model.ir.graph]
    assert kinds == ["MatMul", "Exp", "MatMul", "Relu"]
    feeds = feeds_for(source)
    assert not differences(run(source, feeds), run(proto_of(model.ir), feeds), exact=False)


def test_a_constant_further_down_does_not_keep_a_region_apart() -> None:
    model = opened(
        HEADER
        + """g (float[64, 64] x, float[64, 64] w) => (float[64, 64] y, float[64, 64] z) {
    a = Exp(x)
    z = MatMul(a, w)
    two = Constant<value = float {2.0}>()
    b = Mul(a, two)
    y = Neg(b)
}"""
    )
    trace = optimize(model, Pipeline.of("none", enable=["generate-kernels"]))
    assert [len(rewrite.matched) for rewrite in trace.rewrites] == [3]
    assert [node.op_type for node in model.ir.graph][1:] == ["MatMul"]


def agrees(text: str) -> list[str]:
    """What is left after all kernels are written; the file computes what it did, and all fit."""
    model = opened(HEADER + text)
    plan = plan_fusion(model.ir.graph, SymbolicValues(model.ir).fact)
    source = proto_of(model.ir)
    trace = optimize(model, Pipeline.of("none", enable=["generate-kernels"]))
    assert trace.steps == len(plan.regions)
    feeds = feeds_for(source)
    assert not differences(run(source, feeds), run(proto_of(model.ir), feeds), exact=False)
    return [node.op_type for node in model.ir.graph]


SCAN = """g (float[1, 256, 16] x, float[1, 16, 16] c, float[256, 256] w) => (float[1, 256, 2] y)
<int64 i0 = {0}, int64 i1 = {1}, int64[1] two = {2}> {
    e = Exp(x)
    m = MatMul(w, x)
    h0 = Mul(e, m)
    h1 = Add(h0, e)
    d = Neg(c)
    c0 = Gather<axis = 1>(d, i0)
    c1 = Gather<axis = 1>(d, i1)
    v0 = Unsqueeze(c0, two)
    v1 = Unsqueeze(c1, two)
    y0 = MatMul(h0, v0)
    y1 = MatMul(h1, v1)
    y = Concat<axis = 2>(y0, y1)
}"""


def test_products_with_short_vectors_that_are_computed_are_part_of_a_scan() -> None:
    left = agrees(SCAN)
    assert [kind.split("_")[0] for kind in left] == ["MatMul", "Exp"]
    assert left[0] == "MatMul", "one with a matrix stays"


def test_what_moves_data_for_kernels_alone_is_not_written() -> None:
    left = agrees(
        """g (float[1, 64, 576] x, float[576, 576] w)
=> (float[1, 12, 64, 16] q, float[1, 12, 16, 64] k) <int64[4] s = {1, 64, 12, 16}> {
    m = MatMul(x, w)
    a, b, c = Split<axis = 2, num_outputs = 3>(m)
    d = Reshape(a, s)
    q = Transpose<perm = [0, 2, 1, 3]>(d)
    e = Reshape(b, s)
    k = Transpose<perm = [0, 2, 3, 1]>(e)
}""".replace(", num_outputs = 3", "")
    )
    assert [kind.split("_")[0] for kind in left] == ["MatMul", "Split", "Split"]


RESIDUAL = """g (float[512, 128] t, int64[1, 64] i, float[128, 128] w)
=> (float[1, 64, 128] x1, float[1, 64, 128] n1) {
    x0 = Gather(t, i)
    s0 = Mul(x0, x0) r0 = ReduceMean<axes = [-1]>(s0) n0 = Mul(x0, r0)
    m = MatMul(n0, w)
    x1 = Add(x0, m)
    s1 = Mul(x1, x1) r1 = ReduceMean<axes = [-1]>(s1) n1 = Mul(x1, r1)
}"""


def test_what_is_gathered_for_two_kernels_is_gathered_by_both() -> None:
    assert [kind.split("_")[0] for kind in agrees(RESIDUAL)] == ["Gather", "MatMul", "Gather"]


def test_what_a_kernel_gives_is_not_computed_again_by_the_next() -> None:
    other = RESIDUAL.replace("n1) {", "n1, float[1, 66, 128] p) <int64[6] e = {0,1,0,0,1,0}> {")
    left = agrees(other.replace("m = Mat", 'p = Pad<mode = "reflect">(x0, e) m = Mat'))
    assert [kind.split("_")[0] for kind in left] == ["Gather", "Pad", "MatMul", "Add"]


def test_a_transpose_that_moves_small_blocks_is_worth_a_kernel_of_its_own() -> None:
    (region,) = planned("""g (float[64, 12, 64] x) => (float[12, 64, 64] y) {
    y = Transpose<perm = [1, 0, 2]>(x)
}""").regions
    assert region.kind == "better kernel"
    assert "own Transpose is slow: 10.4 µs predicted apart" in region.reason
    assert not planned("""g (float[64, 12, 64] x) => (float[64, 64, 12] y) {
    y = Transpose<perm = [0, 2, 1]>(x)
}""").regions


def test_a_bias_leaves_its_gemm_for_a_kernel_and_for_nothing_else() -> None:
    plan = planned("""g (float[64, 768] x, float[768, 768] w, float[768] b)
=> (float[64, 768] y, float[64, 768] z) {
    m = MatMul(x, w)
    a = Add(m, b)
    y = com.microsoft.QuickGelu(a)
    n = MatMul(y, w)
    z = Add(n, b)
}""")
    assert [operators(region) for region in plan.regions] == [["Add", "QuickGelu"]]


def test_a_softmax_of_short_rows_has_a_better_kernel_and_one_of_long_rows_does_not() -> None:
    plan = planned("""g (float[512, 16] x, float[512, 512] y)
=> (float[512, 16] p, float[512, 512] q) {
    p = Softmax(x)
    q = Softmax(y)
}""")
    (region,) = plan.regions
    assert [value.name for value in region.outputs] == ["p"]
    assert "ONNX Runtime's own Softmax is slow" in region.reason


JOINED = """g (float[1, 1024, 64] x, float[64] b, float[1, {channels}, 1024] p)
=> (float[1, {sum}, 1024] y) {{
    a = Add(x, b)
    t = Transpose<perm = [0, 2, 1]>(a)
    y = Concat<axis = 1>(t, p)
}}"""


def test_what_joins_little_to_much_that_lies_in_memory_stays() -> None:
    (region,) = planned(JOINED.format(channels=192, sum=256)).regions
    assert operators(region) == ["Add", "Transpose"]


def test_what_joins_as_much_as_lies_in_memory_is_part_of_the_kernel() -> None:
    (region,) = planned(JOINED.format(channels=64, sum=128)).regions
    assert operators(region) == ["Add", "Transpose", "Concat"]


def test_a_resize_by_constant_scales_is_part_of_a_kernel() -> None:
    plan = planned("""g (float[1, 64, 32, 32] x, float[1, 64, 64, 64] r)
=> (float[1, 64, 64, 64] y) <float[4] scales = {1, 1, 2, 2}> {
    a = Resize<mode = "linear">(x, , scales)
    s = Add(a, r)
    y = Relu(s)
}""")
    assert [operators(region) for region in plan.regions] == [["Resize", "Add", "Relu"]]


def test_a_resize_by_a_factor_that_is_no_power_of_two_stays() -> None:
    plan = planned("""g (float[1, 64, 32, 32] x, float[1, 64, 96, 96] r)
=> (float[1, 64, 96, 96] y) <float[4] scales = {1, 1, 3, 3}> {
    a = Resize<mode = "linear">(x, , scales)
    s = Add(a, r)
    y = Relu(s)
}""")
    assert [operators(region) for region in plan.regions] == [["Add", "Relu"]]


def test_a_node_whose_outputs_have_several_shapes_is_no_part() -> None:
    plan = planned("""g (float[512, 512] x, float[512] s)
=> (float[512, 512] y, float[512, 1] mean, float[512, 1] inverse) {
    n, mean, inverse = LayerNormalization(x, s)
    a = Exp(n)
    y = Sqrt(a)
}""")
    (region,) = plan.regions
    assert operators(region) == ["Exp", "Sqrt"]
