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
