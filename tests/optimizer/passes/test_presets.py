from __future__ import annotations

import pytest

from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline, preset_names
from optimizer.registry import PRESETS, preset_named
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened

GELU_BETWEEN_CONVS = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,4,4] x) => (float[1,1,4,4] y)
<float[1,1,1,1] w = {2}, float root = {1.41421356}, float one = {1}, float half = {0.5}>
{
   a = Conv (x, w)
   b = Div (a, root)
   c = Erf (b)
   d = Add (c, one)
   e = Mul (a, d)
   f = Mul (e, half)
   y = Conv (f, w)
}
"""


def test_a_gelu_is_recognized_before_its_last_factor_goes_into_the_weights_behind_it() -> None:
    model = opened(GELU_BETWEEN_CONVS)
    optimize(model, Pipeline.of("cpu"))
    assert [node.op_type for node in model.ir.graph] == ["Conv", "Gelu", "Conv"]


def test_cuda_has_no_operator_that_runs_on_a_cpu_alone() -> None:
    cpu, cuda = (set(Pipeline.of(preset).ids) for preset in ("cpu", "cuda"))
    assert cuda < cpu
    assert cpu - cuda == {"fuse-conv-activation-cpu", "fuse-gemm-activation"}


def test_portable_is_a_part_of_every_other_preset_but_for_what_kernels_are_made_of() -> None:
    portable = set(Pipeline.of("portable").ids)
    for preset in PRESETS:
        left = portable - set(Pipeline.of(preset).ids)
        spelled_out = {"flatten-rows", "recognize-attention", "recognize-rotary-embedding"}
        assert left == (spelled_out if preset == "generated" else set()), preset


@pytest.mark.parametrize(("before", "today"), [("default", "portable"), ("runtime", "cpu")])
def test_a_preset_answers_to_the_name_that_it_had(before: str, today: str) -> None:
    assert preset_named(before) == today
    assert Pipeline.of(before).preset == today
    assert before not in preset_names()


def test_an_unknown_preset_is_named_with_those_that_there_are() -> None:
    with pytest.raises(StudioError, match="'fast'; there are portable, cpu, cuda, generated, none"):
        Pipeline.of("fast")
