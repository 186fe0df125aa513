"""The measuring worker's side: one session, kept from call to call, timed run by run.

What is timed is `run` alone, from host arrays to host arrays, or from device to device where the
transfers are left out. The clock is `perf_counter_ns`; the garbage collector is off meanwhile.
"""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from optimizer.verify.feeds import Array
from profiling.config import RunConfig
from profiling.execution.session import SessionError, open_session, refusal

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Opened:
    """What it took to get ready.

    Attributes:
        import_ms: loading the runtime.
        create_ms: reading the model and creating the session.
        providers: what the session really uses, the preferred first.
        nodes_on: number of nodes by provider, where the runtime tells.
    """

    import_ms: float
    create_ms: float
    providers: tuple[str, ...]
    nodes_on: Mapping[str, int]


@dataclass(slots=True)
class _State:
    session: Any = None
    run: Callable[[], list[Array]] | None = None
    names: tuple[str, ...] = ()


_state = _State()


def open_variant(model: Path, config: RunConfig) -> Opened:
    """Create the session.

    Raises:
        SessionError: the runtime refuses.
    """
    started = time.perf_counter_ns()
    importlib.import_module("onnxruntime")
    imported = time.perf_counter_ns()
    _state.session = open_session(model, config)
    created = time.perf_counter_ns()
    _state.names = tuple(item.name for item in _state.session.get_outputs())
    return Opened(
        (imported - started) / 1e6,
        (created - imported) / 1e6,
        tuple(_state.session.get_providers()),
        _assignment(_state.session),
    )


def first_run(
    inputs: Mapping[str, Array], outputs: Mapping[str, Array], device: str
) -> tuple[float, dict[str, Array]]:
    """Latency of the very first run, and what it computed.

    Args:
        inputs: by name.
        outputs: arrays of the right type and shape, for buffers on the device.
        device: `host`, or a device to keep inputs and outputs on, such as `cuda:0`.
    """
    known = {item.name for item in _state.session.get_inputs()}
    wanted = {name: array for name, array in inputs.items() if name in known}
    _state.run = (
        _host_run(_state.session, wanted)
        if device == "host"
        else _device_run(_state.session, wanted, outputs, device=device)
    )
    started = time.perf_counter_ns()
    found = _guarded(_state.run)
    latency_ms = (time.perf_counter_ns() - started) / 1e6
    # The runtime may reuse its buffers for the next run.
    return latency_ms, {
        name: np.array(array) for name, array in zip(_state.names, found, strict=True)
    }


def run_block(count: int) -> list[float]:
    """Latencies of `count` runs in milliseconds."""
    run = _state.run
    if run is None:
        raise TypeError("first_run comes before run_block")
    clock = time.perf_counter_ns
    latencies: list[float] = []
    gc.disable()
    try:
        for _ in range(count):
            started = clock()
            _guarded(run)
            latencies.append((clock() - started) / 1e6)
    finally:
        gc.enable()
    return latencies


def peak_resident_bytes() -> int:
    """The most memory this process had in RAM so far."""
    for line in _STATUS.read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return 0


def _guarded(run: Callable[[], list[Array]]) -> list[Array]:
    try:
        return run()
    except Exception as error:  # the runtime has a dozen classes for this
        raise refusal(error) from error


def _host_run(session: Any, inputs: Mapping[str, Array]) -> Callable[[], list[Array]]:
    feeds = dict(inputs)
    return lambda: session.run(None, feeds)


def _device_run(
    session: Any, inputs: Mapping[str, Array], outputs: Mapping[str, Array], *, device: str
) -> Callable[[], list[Array]]:
    """Inputs and outputs at fixed addresses on the device, as a captured graph needs them."""
    import onnxruntime

    ort: Any = onnxruntime
    kind, _, number = device.partition(":")
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(
            name, ort.OrtValue.ortvalue_from_numpy(array, kind, int(number or 0))
        )
    buffers: list[Any] = []
    for item in session.get_outputs():
        if item.name not in outputs:
            raise SessionError(f"Output '{item.name}' has no known size to reserve on {device}.")
        like = outputs[item.name]
        buffer = ort.OrtValue.ortvalue_from_shape_and_type(
            list(like.shape), like.dtype.type, kind, int(number or 0)
        )
        binding.bind_ortvalue_output(item.name, buffer)
        buffers.append(buffer)
    first = True

    def run() -> list[Array]:
        nonlocal first
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()
        if not first:
            return []
        first = False
        return [buffer.numpy() for buffer in buffers]

    return run


def _assignment(session: Any) -> dict[str, int]:
    """Nodes by provider; needs a build that records it, else empty."""
    counts: dict[str, int] = {}
    try:
        subgraphs = session.get_provider_graph_assignment_info()
        for subgraph in subgraphs:
            name = str(subgraph.ep_name)
            counts[name] = counts.get(name, 0) + len(subgraph.get_nodes())
    except Exception:  # not recorded, or another version's names
        return {}
    return counts
