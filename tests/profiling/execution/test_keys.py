"""The runtime takes unknown keys without a word; so every one of ours is looked up in it."""

from __future__ import annotations

import importlib.util
import mmap
from collections.abc import Iterator
from pathlib import Path

import pytest

from profiling.config import Option, RunConfig, options
from profiling.config.session import OPTIMIZERS
from profiling.config.tensorrt import TACTICS
from profiling.execution.keys import (
    ATTRIBUTE,
    config_entries,
    cuda_options,
    session_attributes,
    tensorrt_options,
)
from profiling.execution.session import CPU, CUDA, TENSORRT, providers
from profiling.workers import WorkerPool
from tests.profiling.execution.session_jobs import attribute_names
from tests.profiling.settings import from_settings

SESSION_LIBRARY, CUDA_LIBRARY = "libonnxruntime.so", "libonnxruntime_providers_cuda.so"
TENSORRT_LIBRARY = "libonnxruntime_providers_tensorrt.so"
HERE = Path("folder")


def library(name: str) -> Path:
    spec = importlib.util.find_spec("onnxruntime")
    assert spec is not None
    assert spec.origin is not None
    found = sorted((Path(spec.origin).parent / "capi").glob(f"{name}*"))
    if not found:
        pytest.skip(f"this build of ONNX Runtime has no {name}")
    return found[0]


@pytest.fixture(scope="module")
def texts() -> Iterator[dict[str, mmap.mmap]]:
    opened: dict[str, mmap.mmap] = {}
    for name in (SESSION_LIBRARY, CUDA_LIBRARY, TENSORRT_LIBRARY):
        with library(name).open("rb") as file:
            opened[name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    yield opened
    for text in opened.values():
        text.close()


def keys() -> list[tuple[str, str]]:
    """(library, key) of every option that is written as text."""
    found: dict[tuple[str, str], None] = {}
    for option in options():
        for key in option.keys:
            if not key.startswith(ATTRIBUTE) and option.name != "device":
                found[_library(option, key), key] = None
    return [*found, (SESSION_LIBRARY, "session.record_ep_graph_assignment_info")]


def _library(option: Option, key: str) -> str:
    if key.startswith("ep.cuda.") or (option.group == "cuda" and "." not in key):
        return CUDA_LIBRARY
    return TENSORRT_LIBRARY if option.group == "tensorrt" else SESSION_LIBRARY


@pytest.mark.parametrize(("name", "key"), keys())
def test_every_key_occurs_in_the_installed_runtime(
    name: str, key: str, texts: dict[str, mmap.mmap]
) -> None:
    assert texts[name].find(key.encode() + b"\0") >= 0


def test_a_misspelt_key_does_not_occur(texts: dict[str, mmap.mmap]) -> None:
    for text in texts.values():
        assert text.find(b"session.disable_prepaking") < 0
        assert text.find(b"trt_fp61_enable") < 0


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_occurs_in_the_installed_runtime(
    optimizer: str, texts: dict[str, mmap.mmap]
) -> None:
    put_together = ("Level1_RuleBasedTransformer", "Level2_RuleBasedTransformer")
    name = optimizer[len("Level1") :] if optimizer in put_together else optimizer
    if name == "TransposeOptimizer_CPUExecutionProvider":
        name = "TransposeOptimizer"
    assert texts[SESSION_LIBRARY].find(name.encode()) >= 0


def test_words_of_choices_occur_in_the_provider_that_reads_them(
    texts: dict[str, mmap.mmap],
) -> None:
    for word in ("EXHAUSTIVE", "HEURISTIC", "DEFAULT", "kNextPowerOfTwo", "kSameAsRequested"):
        assert texts[CUDA_LIBRARY].find(word.encode()) >= 0
    for word in TACTICS:
        assert texts[TENSORRT_LIBRARY].find(word.encode()) >= 0


def test_every_attribute_is_one_of_the_runtime(shared_pool: WorkerPool) -> None:
    assert set(session_attributes(RunConfig())) <= set(shared_pool(attribute_names))


def test_only_what_differs_from_the_runtimes_defaults_is_written() -> None:
    assert config_entries(RunConfig()) == {
        "session.intra_op.allow_spinning": "0",
        "session.inter_op.allow_spinning": "0",
    }
    assert cuda_options(RunConfig(device="cuda")) == {"device_id": "0"}
    assert tensorrt_options(RunConfig(device="tensorrt"), HERE) == {"device_id": "0"}


@pytest.mark.parametrize(
    ("settings", "entries"),
    [
        (["prepacking=0"], {"session.disable_prepacking": "1"}),
        (["initializers_in_arena=0"], {"session.use_device_allocator_for_initializers": "1"}),
        (["function_inlining=0"], {"session.disable_aot_function_inlining": "1"}),
        (
            ["graph_optimization=all", "optimizers_off=ReshapeFusion+ConstantFolding"],
            {"optimization.disable_specified_optimizers": "ReshapeFusion;ConstantFolding"},
        ),
        (
            ["graph_optimization=all", "folding_limit_mib=2", "optimizer_loops=never"],
            {
                "optimization.constant_folding_max_output_size_in_bytes": "2097152",
                "session.graph_optimizations_loop_level": "0",
            },
        ),
        (
            ["intra_threads=3", "thread_affinities=1+2-3"],
            {"session.intra_op_thread_affinities": "1;2-3"},
        ),
        (
            ["intra_threads=2", "spinning=1", "spin_between_runs=0", "spin_backoff=8"],
            {
                "session.intra_op.allow_spinning": "1",
                "session.inter_op.allow_spinning": "1",
                "session.force_spinning_stop": "1",
                "session.intra_op.spin_backoff_max": "8",
                "session.inter_op.spin_backoff_max": "8",
            },
        ),
        (
            ["device=cuda", "cpu_fallback=0", "gemm_auto_tune=1", "nbits_gemm=1", "nbits_rows=1+8"],
            {
                "session.disable_cpu_ep_fallback": "1",
                "session.record_ep_graph_assignment_info": "1",
                "ep.cuda.enable_gemm_auto_tune": "1",
                "ep.cuda.fpa_intb_gemm": "1",
                "ep.cuda.fpa_intb_profile_m": "1,8",
            },
        ),
    ],
)
def test_entries_are_written_as_the_runtime_reads_them(
    settings: list[str], entries: dict[str, str]
) -> None:
    spinning_off = config_entries(RunConfig())
    assert config_entries(from_settings(settings)) == spinning_off | entries


def test_cuda_options_are_written_as_the_runtime_reads_them() -> None:
    config = from_settings(
        [
            "device=cuda", "device_id=1", "cuda_graph=1", "convolution_search=heuristic", "tf32=0",
            "gpu_memory_mib=512", "attention_kernel=efficient", "arena_growth=same_as_requested",
            "weight_readers=0",
        ]
    )  # fmt: skip
    assert cuda_options(config) == {
        "device_id": "1",
        "enable_cuda_graph": "1",
        "cudnn_conv_algo_search": "HEURISTIC",
        "use_tf32": "0",
        "gpu_mem_limit": str(512 << 20),
        "sdpa_kernel": "2",
        "arena_extend_strategy": "kSameAsRequested",
        "external_data_loader_reading_threads": "0",
    }


def test_tuning_uses_the_tuned_kernels_too() -> None:
    written = cuda_options(RunConfig(device="cuda", tune_kernels=True, tuning_ms=50))
    assert written == {
        "device_id": "0",
        "tunable_op_enable": "1",
        "tunable_op_tuning_enable": "1",
        "tunable_op_max_tuning_duration_ms": "50",
    }


def test_tensorrt_options_are_written_as_the_runtime_reads_them() -> None:
    config = from_settings(
        [
            "device=tensorrt", "trt_fp16=1", "trt_builder_level=5", "trt_workspace_mib=1",
            "trt_tactics=CUDNN+JIT_CONVOLUTIONS", "trt_exclude=Softmax+Einsum",
            "trt_timing_cache=1", "trt_min_shapes=a:1x3+b:2", "trt_best_shapes=a:2x3+b:2",
            "trt_max_shapes=a:4x3+b:2",
        ]
    )  # fmt: skip
    assert tensorrt_options(config, HERE) == {
        "device_id": "0",
        "trt_fp16_enable": "True",
        "trt_builder_optimization_level": "5",
        "trt_max_workspace_size": str(1 << 20),
        "trt_tactic_sources": "-CUBLAS,-CUBLAS_LT,+CUDNN,-EDGE_MASK_CONVOLUTIONS,+JIT_CONVOLUTIONS",
        "trt_op_types_to_exclude": "Softmax,Einsum",
        "trt_timing_cache_enable": "True",
        "trt_timing_cache_path": "folder",
        "trt_profile_min_shapes": "a:1x3,b:2",
        "trt_profile_opt_shapes": "a:2x3,b:2",
        "trt_profile_max_shapes": "a:4x3,b:2",
    }


def test_tensorrt_comes_before_cuda_and_cuda_before_the_cpu() -> None:
    def names(config: RunConfig) -> list[str]:
        found = providers(config, HERE)
        return [entry if isinstance(entry, str) else entry[0] for entry in found]

    assert names(RunConfig()) == [CPU]
    assert names(RunConfig(device="cuda")) == [CUDA, CPU]
    assert names(RunConfig(device="tensorrt")) == [TENSORRT, CUDA, CPU]
    assert names(RunConfig(device="tensorrt", cpu_fallback=False)) == [TENSORRT, CUDA]


OF_A_GPU = [option for option in options() if option.group in ("cuda", "tensorrt")]
BESIDE = {
    "tuning_ms": ["tune_kernels=1"],
    "nbits_rows": ["nbits_gemm=1"],
    "trt_layer_norm_fp32": ["trt_fp16=1"],
    "trt_force_timing_cache": ["trt_timing_cache=1"],
}
LISTED = {"nbits_rows": "8", "trt_tactics": "CUDNN", "trt_exclude": "Softmax"}
SHAPES = [f"trt_{kind}_shapes=x:1x3" for kind in ("min", "best", "max")]


@pytest.mark.parametrize("option", OF_A_GPU, ids=lambda option: option.name)
def test_every_option_of_a_gpu_is_written(option: Option) -> None:
    base = from_settings([f"device={option.group}", *BESIDE.get(option.name, [])])
    shape = option.name in {text.partition("=")[0] for text in SHAPES}
    changes = SHAPES if shape else [f"{option.name}={_other(option)}"]
    before, after = _all_written(base), _all_written(from_settings(changes, base=base))
    for key in option.keys:
        assert before.get(key) != after[key]
    assert set(after) - set(before) <= {key for o in OF_A_GPU for key in o.keys}


def _all_written(config: RunConfig) -> dict[str, str]:
    written = config_entries(config) | cuda_options(config)
    return written | (tensorrt_options(config, HERE) if config.device == "tensorrt" else {})


def _other(option: Option) -> str:
    if option.choices:
        return next(choice for choice in option.choices if choice != option.default)
    if option.type is bool:
        return str(not option.default).lower()
    return LISTED.get(option.name) or str(int(option.default) + 1)
