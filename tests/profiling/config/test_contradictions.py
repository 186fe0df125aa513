from __future__ import annotations

import pytest

from profiling.config import ConfigError, Option, RunConfig, options
from profiling.config.contradictions import (
    RULES,
    contradictions,
    device_needed,
)
from profiling.config.settings import contradiction_of, find_option, mended, read_value
from tests.profiling.settings import from_settings

GPU, RT = "device=cuda", "device=tensorrt"
PARALLEL, NO_PATTERN = "execution_mode=parallel", "memory_pattern=0"
COPIES = "copy_in_default_stream"
REWRITES, FUSIONS = "set graph_optimization=basic", "set graph_optimization=extended"
SHAPES = ["trt_min_shapes=x:1x3", "trt_best_shapes=x:4x3", "trt_max_shapes=x:8x3"]

# What is set, the remedy, and settings that follow the remedy.
CASES: list[tuple[list[str], str, list[str]]] = [
    ([PARALLEL], "set inter_threads=0", ["inter_threads=0", NO_PATTERN]),
    (["inter_threads=4"], "set execution_mode=parallel", [PARALLEL, NO_PATTERN]),
    ([PARALLEL, "inter_threads=2"], "set memory_pattern=false", [NO_PATTERN]),
    (["spinning=on"], "set intra_threads=0", ["intra_threads=0"]),
    (["thread_affinities=2"], "set intra_threads to one more", ["intra_threads=2"]),
    (["thread_affinities=4-3", "intra_threads=2"], "turn it round", ["thread_affinities=3-4"]),
    (["dynamic_blocks=4"], "set intra_threads=0", ["intra_threads=0"]),
    (["parallel_prepacking=1"], "set intra_threads=0", ["intra_threads=0"]),
    (["parallel_prepacking=1", "prepacking=0", "intra_threads=0"], "set prep", ["prepacking=1"]),
    (["optimizers_off=ConstantFolding"], REWRITES, ["graph_optimization=basic"]),
    (["folding_limit_mib=0"], REWRITES, ["graph_optimization=basic"]),
    (["cast_chain_elimination=1"], REWRITES, ["graph_optimization=basic"]),
    (["qdq_fusion=0"], REWRITES, ["graph_optimization=basic"]),
    (["qdq_folding=0"], REWRITES, ["graph_optimization=basic"]),
    (["qdq_pair_removal=0"], REWRITES, ["graph_optimization=basic"]),
    (["nbits_fusion=1"], REWRITES, ["graph_optimization=basic"]),
    (["nbits_accuracy=1"], REWRITES, ["graph_optimization=basic"]),
    (["gelu_approximation=1"], FUSIONS, ["graph_optimization=extended"]),
    (["qdq_cleanup=1", "graph_optimization=basic"], FUSIONS, ["graph_optimization=extended"]),
    (["optimizer_loops=never"], FUSIONS, ["graph_optimization=extended"]),
    (["spin_duration_us=10", "intra_threads=2"], "set spinning=true", ["spinning=1"]),
    (["spin_backoff=8", "intra_threads=2"], "set spinning=true", ["spinning=1"]),
    (["spin_between_runs=0", "intra_threads=2"], "set spinning=true", ["spinning=1"]),
    (["cpu_arena=0", "cpu_arena_growth=same_as_requested"], "set cpu_arena=true", ["cpu_arena=1"]),
    (["cpu_arena=0", "initializers_in_arena=0"], "set cpu_arena=true", ["cpu_arena=1"]),
    ([RT, "cuda_graph=1"], "set trt_cuda_graph=true", ["cuda_graph=0", "trt_cuda_graph=1"]),
    (
        [GPU, "cuda_graph=1", "execution_mode=parallel", "inter_threads=2", "memory_pattern=0"],
        "set execution_mode=sequential",
        ["execution_mode=sequential", "inter_threads=1"],
    ),
    ([GPU, "cuda_graph=1", "tune_kernels=1"], "while they are captured", ["tune_kernels=0"]),
    ([GPU, "cuda_graph=1", f"{COPIES}=0"], f"set {COPIES}=true", [f"{COPIES}=1"]),
    ([GPU, "cudnn=0", "attention_kernel=cudnn"], "set cudnn=true", ["cudnn=1"]),
    ([GPU, "cudnn=0", "convolution_search=heuristic"], "set cudnn=true", ["cudnn=1"]),
    ([GPU, "cudnn=0", "convolution_workspace=0"], "set cudnn=true", ["cudnn=1"]),
    ([GPU, "cudnn=0", "pad_1d_convolutions=1"], "set cudnn=true", ["cudnn=1"]),
    ([GPU, "cudnn=0", "fuse_convolution_bias=1"], "set cudnn=true", ["cudnn=1"]),
    ([GPU, "deterministic=1", "tune_kernels=1"], "set deterministic=false", ["deterministic=0"]),
    ([GPU, "deterministic=1", "gemm_auto_tune=1"], "set deterministic=false", ["deterministic=0"]),
    ([GPU, "tuning_ms=10"], "set tune_kernels=true", ["tune_kernels=1"]),
    ([GPU, "nbits_rows=1+16"], "set nbits_gemm=true", ["nbits_gemm=1"]),
    ([RT, "trt_layer_norm_fp32=1"], "set trt_fp16=true", ["trt_fp16=1"]),
    ([RT, "trt_force_timing_cache=1"], "set trt_timing_cache=true", ["trt_timing_cache=1"]),
    ([RT, *SHAPES[:2]], "trt_max_shapes alike", SHAPES[2:]),
    ([RT, *SHAPES[:2], "trt_max_shapes=y:8x3"], "trt_max_shapes alike", SHAPES[2:]),
    ([RT, *SHAPES[:2], "trt_max_shapes=x:8"], "trt_max_shapes alike", SHAPES[2:]),
    ([RT, *SHAPES[:2], "trt_max_shapes=x:2x3"], "put them in order", SHAPES[2:]),
    ([RT, "trt_min_shapes=x:5x3", *SHAPES[1:]], "put them in order", SHAPES[:1]),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "remedy", "mended"), CASES, ids=lambda v: "")
def test_a_contradiction_is_refused_and_its_remedy_helps(
    settings: list[str], remedy: str, mended: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        from_settings(settings)
    assert remedy in caught.value.message
    assert from_settings([*settings, *mended]).changed()


@pytest.mark.parametrize("settings", [case[0] for case in CASES], ids=lambda v: "")
def test_every_mend_of_a_contradiction_leads_to_options_that_can_be_run(
    settings: list[str],
) -> None:
    values = {
        name: read_value(find_option(name), text)
        for name, text in (setting.split("=") for setting in settings)
    }
    problem = contradiction_of(values)
    assert problem is not None
    for mend in problem.mends:
        found = mended(values, mend)
        assert contradiction_of(found) is None
        assert mend.items() <= found.items()


def test_every_rule_has_a_case() -> None:
    messages: set[str] = set()
    for settings, _, _ in CASES:
        with pytest.raises(ConfigError) as caught:
            from_settings(settings)
        messages.add(caught.value.message)
    assert {rule.sentence for rule in RULES} == messages


def off_default(option: Option) -> str:
    if option.choices:
        value = next(choice for choice in option.choices if choice != option.default)
    elif option.type is bool:
        value = str(not option.default).lower()
    elif option.type is int:
        value = str(option.low if option.low != option.default else option.low + 1)
    else:
        value = {"trt_tactics": "CUDNN", "nbits_rows": "8", "trt_exclude": "Softmax"}.get(
            option.name, "x:1x3"
        )
    return f"{option.name}={value}"


@pytest.mark.parametrize(
    "option", [o for o in options() if device_needed(o)], ids=lambda option: option.name
)
def test_an_option_of_a_gpu_is_refused_on_the_cpu(option: Option) -> None:
    name, _, text = off_default(option).partition("=")
    config = RunConfig()
    value = (text == "true") if option.type is bool else int(text) if option.type is int else text
    object.__setattr__(config, name, value)  # past the checks, so that all sentences are seen
    assert device_needed(option) in contradictions(config, options())


def test_options_of_cuda_count_for_what_tensorrt_leaves_over() -> None:
    assert from_settings([RT, "tf32=0"]).tf32 is False
    with pytest.raises(ConfigError, match="set device=tensorrt"):
        from_settings([GPU, "trt_fp16=1"])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: "-".join(rule.about))
def test_a_rule_names_options_that_exist_and_ends_with_a_remedy(rule: object) -> None:
    assert isinstance(rule, type(RULES[0]))
    for name in rule.about:
        assert find_option(name).name == name
    assert "; " in rule.sentence
    assert rule.sentence.endswith(".")
