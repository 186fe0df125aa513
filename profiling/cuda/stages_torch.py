"""The three stages one by one, on a small model in PyTorch: what a captured graph is made of.

PyTorch lets a program define, instantiate and execute a CUDA graph itself
(`torch.cuda.CUDAGraph(keep_graph=True)`); ONNX Runtime does all three in its
first call. Only in a fresh worker; needs a GPU and PyTorch with CUDA.
"""

from __future__ import annotations

import importlib
import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from profiling.cuda.device import Unavailable

NO_TORCH = "The stages one by one need PyTorch with CUDA, which is not installed here."
NO_GPU = "The stages one by one need an NVIDIA GPU that PyTorch can use, and there is none here."
TOO_OLD = "PyTorch {version} cannot instantiate a graph by itself; install a newer one."


@dataclass(frozen=True, slots=True)
class TorchStages:
    """Host times in milliseconds, one number a repetition; the GPU is idle before each.

    Attributes:
        define_ms: recording the launches.
        instantiate_ms: making them executable.
        execute_ms: one replay, until the GPU is done.
        plain_ms: the same layers launched one by one, until the GPU is done.
        kernels: layers of the model.
        torch: version.
        gpu: name.
    """

    define_ms: tuple[float, ...]
    instantiate_ms: tuple[float, ...]
    execute_ms: tuple[float, ...]
    plain_ms: tuple[float, ...]
    kernels: int
    torch: str
    gpu: str


def one_round(torch: Any, model: Any, x: Any, timed: Callable[[Callable[[], Any]], float]) -> Any:
    """One graph from its definition to its execution, each stage timed."""
    graph = torch.cuda.CUDAGraph(keep_graph=True)

    def define() -> None:
        graph.capture_begin()
        model(x)  # nothing runs: the launches are written down
        graph.capture_end()

    return timed(define), timed(graph.instantiate), timed(graph.replay), timed(lambda: model(x))


LISTING = inspect.getsource(one_round)
"""The code that is timed, as the page shows it."""


def torch_stages(*, layers: int = 32, width: int = 256, repeats: int = 20) -> TorchStages:
    """Time the stages on a chain of small layers.

    Raises:
        Unavailable: there is no PyTorch with CUDA, it is too old, or there is no GPU.
    """
    torch = _torch()
    device = torch.device("cuda")
    chain = [torch.nn.Linear(width, width), torch.nn.ReLU()] * layers
    model = torch.nn.Sequential(*chain).to(device).eval()
    x = torch.randn(8, width, device=device)

    def timed(call: Callable[[], Any]) -> float:
        torch.cuda.synchronize()
        started = time.perf_counter_ns()
        call()
        torch.cuda.synchronize()
        return (time.perf_counter_ns() - started) / 1e6

    # A capture cannot use the default stream.
    with torch.inference_mode(), torch.cuda.stream(torch.cuda.Stream()):
        model(x)  # libraries are loaded and memory is taken before anything is timed
        torch.cuda.synchronize()
        rows = [one_round(torch, model, x, timed) for _ in range(repeats)]
    define, instantiate, execute, plain = zip(*rows, strict=True)
    name = str(torch.cuda.get_device_name())
    return TorchStages(
        define, instantiate, execute, plain, 2 * layers, str(torch.__version__), name
    )


def _torch() -> Any:
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError as error:
        raise Unavailable(NO_TORCH) from error
    if not torch.backends.cuda.is_built():
        raise Unavailable(NO_TORCH)
    if not torch.cuda.is_available():
        raise Unavailable(NO_GPU)
    if not hasattr(torch.cuda.CUDAGraph, "instantiate"):
        raise Unavailable(TOO_OLD.format(version=torch.__version__))
    return torch
