"""A `RunConfig` as the runtime wants it. Only in a worker process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from optimizer.errors import RunError
from profiling.config import RunConfig

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_ATTENTION_BITS = {"default": 0, "flash": 1, "efficient": 2, "cudnn": 8, "math": 16}
_ARENA_GROWTH = {"power_of_two": "kNextPowerOfTwo", "same_as_requested": "kSameAsRequested"}
_LEVELS = {
    "disabled": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "layout": "ORT_ENABLE_LAYOUT",
    "all": "ORT_ENABLE_ALL",
}
_ORDERS = {
    "default": "DEFAULT",
    "priority": "PRIORITY_BASED",
    "memory_efficient": "MEMORY_EFFICIENT",
}
_MAX_MESSAGE = 300


class SessionError(RunError):
    """The runtime refused the model, the options or the inputs; the message is its own."""


def open_session(model: Path, config: RunConfig, *, profile_prefix: str = "") -> Any:
    """An `onnxruntime.InferenceSession` on the device that was asked for.

    Args:
        model: the file; external data lies beside it.
        config: a consistent set of options.
        profile_prefix: write a profile to files whose names begin so; empty for none.

    Raises:
        SessionError: the model is refused, or the runtime would fall back to another device.
    """
    import onnxruntime

    ort: Any = onnxruntime
    ort.set_default_logger_severity(4)
    if config.device == "cuda":
        ort.preload_dlls()
    options = session_options(ort, config)
    if profile_prefix:
        options.enable_profiling = True
        options.profile_file_prefix = profile_prefix
    try:
        session = ort.InferenceSession(str(model), options, providers=providers(config))
    except Exception as error:  # the runtime has a dozen classes for this
        raise refusal(error) from error
    wanted = CUDA if config.device == "cuda" else CPU
    actual = session.get_providers()
    if wanted not in actual:
        raise SessionError(
            f"{wanted} was asked for, but the runtime would have used {', '.join(actual)}; "
            "nothing was measured."
        )
    return session


def providers(config: RunConfig) -> list[str | tuple[str, dict[str, str]]]:
    """Execution providers with their options, the preferred first."""
    if config.device == "cpu":
        return [CPU]
    wanted: list[str | tuple[str, dict[str, str]]] = [(CUDA, cuda_options(config))]
    return [*wanted, CPU] if config.cpu_fallback else wanted


def cuda_options(config: RunConfig) -> dict[str, str]:
    """Options of the CUDA provider under the runtime's own names."""
    values: dict[str, object] = {
        "device_id": config.device_id,
        "enable_cuda_graph": int(config.cuda_graph),
        "cudnn_conv_algo_search": config.convolution_search.upper(),
        "cudnn_conv_use_max_workspace": int(config.convolution_workspace),
        "cudnn_conv1d_pad_to_nc1d": int(config.pad_1d_convolutions),
        "prefer_nhwc": int(config.prefer_nhwc),
        "use_tf32": int(config.tf32),
        "fuse_conv_bias": int(config.fuse_convolution_bias),
        "sdpa_kernel": _ATTENTION_BITS[config.attention_kernel],
        "arena_extend_strategy": _ARENA_GROWTH[config.arena_growth],
        "do_copy_in_default_stream": int(config.copy_in_default_stream),
        "tunable_op_enable": int(config.tune_kernels),
        "tunable_op_tuning_enable": int(config.tune_kernels),
    }
    if config.gpu_memory_mib:
        values["gpu_mem_limit"] = config.gpu_memory_mib << 20
    return {name: str(value) for name, value in values.items()}


def session_options(ort: Any, config: RunConfig) -> Any:
    """`onnxruntime.SessionOptions` for the session and CPU groups."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = getattr(
        ort.GraphOptimizationLevel, _LEVELS[config.graph_optimization]
    )
    options.intra_op_num_threads = config.intra_threads
    options.inter_op_num_threads = config.inter_threads
    options.execution_mode = getattr(ort.ExecutionMode, f"ORT_{config.execution_mode.upper()}")
    options.execution_order = getattr(ort.ExecutionOrder, _ORDERS[config.execution_order])
    options.enable_mem_pattern = config.memory_pattern
    options.enable_mem_reuse = config.memory_reuse
    options.enable_cpu_mem_arena = config.cpu_arena
    options.use_deterministic_compute = config.deterministic
    for key, value in config_entries(config).items():
        options.add_session_config_entry(key, value)
    return options


def config_entries(config: RunConfig) -> dict[str, str]:
    """Options that the runtime takes as text; it accepts unknown keys in silence."""
    spinning = str(int(config.spinning))
    entries = {
        "session.intra_op.allow_spinning": spinning,
        "session.inter_op.allow_spinning": spinning,
        "session.disable_prepacking": str(int(not config.prepacking)),
        "session.set_denormal_as_zero": str(int(config.denormals_as_zero)),
        "optimization.enable_gelu_approximation": str(int(config.gelu_approximation)),
    }
    if config.dynamic_blocks:
        entries["session.dynamic_block_base"] = str(config.dynamic_blocks)
    if config.device == "cuda":
        entries["session.disable_cpu_ep_fallback"] = str(int(not config.cpu_fallback))
        entries["session.record_ep_graph_assignment_info"] = "1"
    return entries


def refusal(error: Exception) -> Exception:
    """What the runtime raised, in our terms."""
    text = " ".join(str(error).split())
    if "allocate" in text.lower() or "bad_alloc" in text:
        return MemoryError(text)
    return SessionError(text[:_MAX_MESSAGE])
