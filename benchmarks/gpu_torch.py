"""PyTorch's part of the GPU benchmark, each call in a process of its own.

    python -m benchmarks.gpu_torch export NETWORK FOLDER [--small]
    python -m benchmarks.gpu_torch time NETWORK FOLDER --mode eager|compile [--half] ...
    python -m benchmarks.gpu_torch rates --device cuda

`export` writes `float32.onnx` and `float16.onnx` of the same weights; `time` and `rates` print
JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.networks import Network, network

OPSET = 17
WARM_UP_RUNS = 20
MOST_RUNS = 5000
TOLERANCE = {False: 1e-2, True: 5e-2}
"""Share of an output's scale that it may be off: TF32 rounds to 10 bits, float16 all along."""


class InHalf(nn.Module):
    """A network in float16 whose inputs and outputs stay float32, as in the file."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner.half()

    def forward(self, *inputs: Tensor) -> Any:
        """The network's own arguments."""
        found = self.inner(*(x.half() if x.is_floating_point() else x for x in inputs))
        if isinstance(found, tuple):
            return tuple(x.float() for x in found)
        return found.float()


def main(arguments: list[str]) -> int:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(prog="benchmarks.gpu_torch")
    commands = parser.add_subparsers(required=True)
    export = commands.add_parser("export")
    timing = commands.add_parser("time")
    for command in (export, timing):
        command.add_argument("network")
        command.add_argument("folder", type=Path)
        command.add_argument("--small", action="store_true")
    export.set_defaults(run=run_export)
    timing.add_argument("--mode", choices=["eager", "compile"], default="eager")
    timing.add_argument("--half", action="store_true")
    timing.add_argument("--device", default="cuda")
    timing.add_argument("--seconds", type=float, default=3.0)
    timing.set_defaults(run=run_time)
    rates = commands.add_parser("rates")
    rates.add_argument("--device", default="cuda")
    rates.add_argument("--size", type=int, default=8192, help="side of the matrices")
    rates.set_defaults(run=run_rates)
    parsed = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    parsed.run(parsed)
    return 0


def run_export(arguments: argparse.Namespace) -> None:
    """Write both files."""
    declared = network(arguments.network, small=arguments.small)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    _export(declared, declared.build(), arguments.folder / "float32.onnx")
    if declared.half:
        _export_half(declared, arguments.folder / "float16.onnx")


def _export_half(declared: Network, path: Path) -> None:
    """On the GPU if there is one: the export runs the network, slowly on a CPU in float16."""
    if torch.cuda.is_available():
        with contextlib.suppress(Exception):  # such as constants left on the CPU
            return _export(declared, InHalf(declared.build()), path, device="cuda")
    return _export(declared, InHalf(declared.build()), path)


def _export(declared: Network, module: nn.Module, path: Path, *, device: str = "cpu") -> None:
    module = module.to(device)
    inputs = {name: value.to(device) for name, value in declared.inputs().items()}
    with torch.inference_mode():
        torch.onnx.export(
            module,
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            output_names=list(declared.outputs),
            opset_version=OPSET,
            dynamo=False,
        )


def run_time(arguments: argparse.Namespace) -> None:
    """Latencies on the inputs in `inputs.npz`, outputs held against `outputs.npz`."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    declared = network(arguments.network, small=arguments.small)
    started = time.perf_counter()
    module = declared.build()
    module = (InHalf(module) if arguments.half else module).to(arguments.device)
    arrays = np.load(arguments.folder / "inputs.npz")
    inputs = [torch.from_numpy(arrays[name]).to(arguments.device) for name in declared.inputs()]
    if arguments.mode == "compile":
        module = torch.compile(module, mode="max-autotune", fullgraph=True, dynamic=False)
    created = time.perf_counter()
    wait = _synchronizer(arguments.device)

    def run() -> Any:
        found = module(*inputs)
        wait()
        return found

    with torch.inference_mode():
        first_ms, found = _first(run)
        problem = _problem(declared, found, arguments.folder / "outputs.npz", half=arguments.half)
        del found
        latencies = _latencies(run, arguments.seconds)
    print(
        json.dumps(
            {
                "create_ms": 1000 * (created - started),
                "first_ms": first_ms,
                "latencies_ms": latencies,
                "peak_bytes": _peak_bytes(arguments.device),
                "error": problem,
                "torch": torch.__version__,
            }
        )
    )


def _first(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    found = run()
    return 1000 * (time.perf_counter() - started), found


def _latencies(run: Callable[[], Any], seconds: float) -> list[float]:
    for _ in range(WARM_UP_RUNS):
        run()
    latencies: list[float] = []
    gc.disable()
    began = time.perf_counter()
    while len(latencies) < MOST_RUNS and time.perf_counter() - began < seconds:
        started = time.perf_counter_ns()
        run()
        latencies.append((time.perf_counter_ns() - started) / 1e6)
    gc.enable()
    return latencies


def _problem(declared: Network, found: Any, path: Path, *, half: bool) -> str:
    """What is wrong with the outputs; empty if nothing is."""
    results = found if isinstance(found, tuple) else (found,)
    reference = np.load(path)
    for name, result in zip(declared.outputs, results, strict=True):
        wanted, given = reference[name], result.float().cpu().numpy()
        scale = float(np.abs(wanted).max()) or 1.0
        off = float(np.abs(given - wanted).max()) / scale
        if not off <= TOLERANCE[half]:
            return f"output {name} is off by {off:.2g} of its scale"
    return ""


def run_rates(arguments: argparse.Namespace) -> None:
    """What the device reaches: a large copy in GB/s, large matrix products in TFLOP/s."""
    torch.backends.cuda.matmul.allow_tf32 = True
    side, device = arguments.size, arguments.device
    wait = _synchronizer(device)
    words = torch.empty(4 * side * side, device=device)
    target = torch.empty_like(words)
    copied = _seconds(lambda: target.copy_(words), wait)
    found = {"copy_gb_s": 2 * words.nbytes / copied / 1e9}
    for name, dtype in (("float32", torch.float32), ("float16", torch.float16)):
        left = torch.randn(side, side, device=device, dtype=dtype)
        right = torch.randn(side, side, device=device, dtype=dtype)
        taken = _seconds(lambda left=left, right=right: left @ right, wait)
        found[f"{name}_tflop_s"] = 2 * side**3 / taken / 1e12
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    print(json.dumps({**found, "device": name, "torch": torch.__version__}))


def _seconds(work: Callable[[], Any], wait: Callable[[], None]) -> float:
    """Median of one call among ten, after warming up."""
    taken: list[float] = []
    for _ in range(13):
        started = time.perf_counter()
        work()
        wait()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken[3:])


def _synchronizer(device: str) -> Callable[[], None]:
    return torch.cuda.synchronize if device == "cuda" else lambda: None


def _peak_bytes(device: str) -> int:
    return torch.cuda.max_memory_reserved() if device == "cuda" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
