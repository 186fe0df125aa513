"""A `RunConfig` as the runtime wants it. Only in a worker process."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Literal

from optimizer.errors import RunError
from profiling.config import RunConfig
from profiling.config.option import items
from profiling.execution.keys import (
    config_entries,
    cuda_options,
    session_attributes,
    tensorrt_options,
)
from profiling.execution.libraries import preload

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
TENSORRT = "TensorrtExecutionProvider"
_PROVIDER = {"cpu": CPU, "cuda": CUDA, "tensorrt": TENSORRT}
_ENUMS = {
    "graph_optimization_level": "GraphOptimizationLevel",
    "execution_mode": "ExecutionMode",
    "execution_order": "ExecutionOrder",
}
_MAX_MESSAGE = 300
_GPU_MEMORY = ("BFCArena", "bfc_arena", "out of memory", "smaller than requested bytes")


class SessionError(RunError):
    """The runtime refused the model, the options or the inputs; the message is its own."""


def open_session(
    model: Path, config: RunConfig, *, profile_prefix: str = "", copy: Path | None = None
) -> Any:
    """An `onnxruntime.InferenceSession` on the device that was asked for.

    Args:
        model: the file; external data lies beside it.
        config: a consistent set of options.
        profile_prefix: write a profile to files whose names begin so; empty for none.
        copy: where to write the graph as the runtime has rewritten it, and its weights beside.

    Raises:
        SessionError: the model is refused, or the runtime would fall back to another device.
        LibraryError: the model has generated kernels, which cannot be built here.
    """
    import onnxruntime

    ort: Any = onnxruntime
    ort.set_default_logger_severity(4)
    _check_processors(config)
    preload(ort, config.device)
    _share_arena(ort, config)
    options = session_options(ort, config)
    _register_kernels(options, model, config)
    if profile_prefix:
        options.enable_profiling = True
        options.profile_file_prefix = profile_prefix
    if copy is not None:
        options.optimized_model_filepath = str(copy)
        for key, value in _weights_apart(copy).items():
            options.add_session_config_entry(key, value)
    try:
        # Otherwise it tries again with default options when ours fail, and says so to stdout only.
        session = ort.InferenceSession(
            str(model), options, providers=providers(config, model.parent), enable_fallback=0
        )
    except Exception as error:  # the runtime has a dozen classes for this
        raise refusal(error, device=config.device) from error
    wanted, actual = _PROVIDER[config.device], session.get_providers()
    if wanted not in actual:
        raise SessionError(
            f"{wanted} was asked for, but the runtime would have used {', '.join(actual)}; "
            "nothing was measured."
        )
    return session


def _register_kernels(options: Any, model: Path, config: RunConfig) -> None:
    """Have the model's generated functions run as kernels; elsewhere than on a CPU, as they are.

    Raises:
        LibraryError: their library cannot be built or loaded.
    """
    if config.generated_kernels == "off" or config.device != "cpu":
        return
    library = _library(model, config.generated_kernels)
    if library is None:
        return
    try:
        options.register_custom_ops_library(str(library))
        ctypes.CDLL(str(library)).watch_crashes()
    except Exception as error:  # the runtime has a dozen classes for this
        from profiling.codegen.kernel import LibraryError

        text = _shortened(" ".join(str(error).split()))
        raise LibraryError(f"The library of generated kernels cannot be loaded: {text}") from error


def _library(model: Path, kernels: Literal["c", "halide", "tvm"]) -> Path | None:
    """Where the kernels' code is; with it comes all that generates code, half a second of it."""
    if kernels == "tvm":
        from profiling.tvm.store import library_by_tvm

        return library_by_tvm(model)
    from profiling.codegen.store import library_of

    return library_of(model, kernels)


def kernels_left_out(model: Path, config: RunConfig) -> tuple[str, ...]:
    """Why generated functions of a model run as operators in a session: a sentence for each.

    None where all do, because that is asked for, or the session is not one of the CPU.

    Raises:
        LibraryError: their library cannot be built.
    """
    if config.generated_kernels in ("off", "tvm") or config.device != "cpu":
        return ()  # TVM refuses all of a model's kernels, or none
    from profiling.codegen.store import left_out

    return left_out(model, config.generated_kernels)


def _weights_apart(copy: Path) -> dict[str, str]:
    """A copy of a large model is two files: one protobuf holds no more than 2 GiB."""
    prefix = "session.optimized_model_external_initializers_"
    return {f"{prefix}file_name": f"{copy.name}.data", f"{prefix}min_size_in_bytes": "1024"}


def providers(config: RunConfig, folder: Path) -> list[str | tuple[str, dict[str, str]]]:
    """Execution providers with their options, the preferred first; caches lie in `folder`."""
    if config.device == "cpu":
        return [CPU]
    wanted: list[str | tuple[str, dict[str, str]]] = [(CUDA, cuda_options(config))]
    if config.device == "tensorrt":
        wanted.insert(0, (TENSORRT, tensorrt_options(config, folder)))
    return [*wanted, CPU] if config.cpu_fallback else wanted


def session_options(ort: Any, config: RunConfig) -> Any:
    """`onnxruntime.SessionOptions` for everything but the GPU providers' own options."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    for name, value in session_attributes(config).items():
        member = getattr(ort, _ENUMS[name]) if name in _ENUMS else None
        setattr(options, name, value if member is None else getattr(member, str(value)))
    for key, value in config_entries(config).items():
        options.add_session_config_entry(key, value)
    return options


def assigned_nodes(session: Any) -> dict[str, tuple[tuple[str, str], ...]]:
    """What the runtime decided: provider -> (name, operator) of its nodes. Only in a worker.

    The session must have been created with `session.record_ep_graph_assignment_info`, and its
    nodes include the runtime's own, such as fusions and Memcpy; empty where it does not tell.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    try:
        for subgraph in session.get_provider_graph_assignment_info():
            nodes = [(str(node.name), str(node.op_type)) for node in subgraph.get_nodes()]
            found.setdefault(str(subgraph.ep_name), []).extend(nodes)
    except Exception:  # not recorded, or another version's names
        return {}
    return {provider: tuple(nodes) for provider, nodes in found.items()}


def refusal(error: Exception, *, device: str = "cpu") -> Exception:
    """What the runtime raised, in our terms; on a GPU it is the GPU's memory that ran out."""
    text = " ".join(str(error).split())
    if device != "cpu" and any(part in text for part in _GPU_MEMORY):
        return SessionError(f"The GPU has not enough memory left for it: {_shortened(text)}")
    if "allocate" in text.lower() or "bad_alloc" in text:
        return MemoryError(text)
    return SessionError(_shortened(text))


def _shortened(text: str) -> str:
    """Both ends: the runtime says first where it was, and last what was wrong."""
    if len(text) <= _MAX_MESSAGE:
        return text
    return f"{text[: _MAX_MESSAGE // 3]} … {text[-2 * _MAX_MESSAGE // 3 :]}"


def _check_processors(config: RunConfig) -> None:
    """The runtime only logs a thread that it cannot pin; it counts processors from 1."""
    here = {number + 1 for number in os.sched_getaffinity(0)}
    for item in items(config.thread_affinities):
        low, _, high = item.partition("-")
        missing = set(range(int(low), int(high or low) + 1)) - here
        if missing:
            raise SessionError(
                f"thread_affinities names processor {min(missing)}, which is not ours; "
                f"name processors from {min(here)} to {max(here)}."
            )


def _share_arena(ort: Any, config: RunConfig) -> None:
    """An arena of the process that grows as asked; a session's own cannot be told how."""
    if config.cpu_arena_growth == "power_of_two":
        return
    info = ort.OrtMemoryInfo(
        "Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT
    )
    same_as_requested = 1
    ort.create_and_register_allocator(
        info, ort.OrtArenaCfg({"arena_extend_strategy": same_as_requested})
    )
