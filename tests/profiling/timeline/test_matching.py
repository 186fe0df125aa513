from __future__ import annotations

import onnx_ir as ir
import pytest

from profiling.config import RunConfig
from profiling.config.session import GraphOptimization
from profiling.racing.race import Variant
from profiling.timeline.matching import RunNode, match_operators
from profiling.timeline.recorder import name_uniquely
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model
from tests.profiling.timeline.measured import measured

pytestmark = pytest.mark.long

WEIGHT = ", ".join(["0.01"] * (16 * 16 * 9))
NETWORK = f"""
g (float[1,16,32,32] x) => (float[1,16,32,32] y) <float[16,16,3,3] w = {{{WEIGHT}}}> {{
    [conv] a = Conv<pads=[1,1,1,1]>(x, w)
    [relu] b = Relu(a)
    [second] c = Conv<pads=[1,1,1,1]>(b, w)
    [sum] d = Add(c, b)
    [last] y = Neg(d)
}}
"""


def operator(name: str, inputs: str, outputs: str) -> RunNode:
    return RunNode(name, "Op", tuple(inputs.split()), tuple(outputs.split()))


FILE = [
    operator("shape", "x", "s"),
    operator("conv", "x w", "a"),
    operator("norm", "a", "b"),
    operator("relu", "b", "c"),
    operator("pool", "c", "y"),
]


def test_a_fusion_has_all_nodes_between_its_values_its_own_first() -> None:
    ran = [operator("conv", "x w2", "c"), operator("pool", "c", "y")]
    assert match_operators(FILE, ran) == {"conv": ("conv", "relu", "norm"), "pool": ("pool",)}


def test_blocked_convolutions_are_named_after_the_value_that_they_make() -> None:
    ran = [
        operator("ReorderInput", "x", "x_blocked"),
        operator("c_nchwc", "x_blocked w2", "c_blocked"),
        operator("ReorderOutput", "c_blocked", "c"),
        operator("pool", "c", "y"),
    ]
    found = match_operators(FILE, ran)
    assert found["c_nchwc"] == ("relu", "norm", "conv")
    assert found["ReorderOutput"] == ("relu",)
    assert found["ReorderInput"] == ("relu",)


def test_a_fusion_with_a_name_of_its_own_is_found_by_its_values() -> None:
    found = match_operators(FILE, [operator("BiasGelu_token_3", "a", "c"), *FILE[1:2], *FILE[4:]])
    assert found["BiasGelu_token_3"] == ("relu", "norm")


def test_without_values_names_must_do() -> None:
    bare = [operator(name, "", "") for name in ("conv", "relu/ReluFusion/", "norm_token_1", "z")]
    found = match_operators(FILE, bare)
    assert found == {
        "conv": ("conv",), "relu/ReluFusion/": ("relu",), "norm_token_1": ("norm",), "z": (),
    }  # fmt: skip


@pytest.mark.parametrize("level", ["disabled", "basic", "extended", "layout", "all"])
def test_every_operator_of_a_real_run_is_traced_to_the_file(
    shared_pool: WorkerPool, level: GraphOptimization
) -> None:
    variant = Variant("v", model(NETWORK), RunConfig(graph_optimization=level))
    found = measured(variant, pool=shared_pool, runs=1)
    computed = [node for nodes in found.kernels.values() for node in nodes]
    assert set(computed) == {"conv", "relu", "second", "sum", "last"}
    assert all(found.kernels.values())
    if level == "all":
        assert len(found.kernels["conv_nchwc" if "conv_nchwc" in found.kernels else "b_nchwc"]) == 2


def test_nodes_without_a_name_and_of_one_name_are_told_apart(shared_pool: WorkerPool) -> None:
    text = "g (float[2] x) => (float[2] y) {\n a = Exp(x)\n [n] b = Neg(a)\n [n] y = Neg(b)\n}"
    proto = model(text)
    found = measured(Variant("v", proto), pool=shared_pool, runs=1)
    assert found.kernels == {"Exp#0": ("Exp#0",), "n": ("n",), "n#2": ("n#2",)}


def test_names_that_are_unique_stay() -> None:
    header = '<ir_version: 10, opset_import: ["": 21]>'
    text = f"{header} g (float[2] x) => (float[2] y) {{ [a] y = Neg(x) }}"
    assert not name_uniquely(ir.from_onnx_text(text))
