"""The measuring worker's side: one session, kept from call to call, timed run by run.

What is timed is `run` alone, from host arrays to host arrays, or from device to device where the
transfers are left out. A captured graph reads and writes fixed addresses on the device; where the
transfers count, copying to and from those is timed with it. The clock is `perf_counter_ns`; the
garbage collector is off meanwhile.
"""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from optimizer.verify.values import Array, array_of, needs_values, value_of
from profiling.config import RunConfig
from profiling.execution.binding import BoundRun
from profiling.execution.session import SessionError, assigned_nodes, open_session, refusal

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
    run: Callable[[], list[Any]] | None = None
    device: str = "cpu"
    names: tuple[str, ...] = ()


_state = _State()


def ready() -> None:
    """Nothing: the answer shows that the process is up and has this module."""


def open_variant(model: Path, config: RunConfig) -> Opened:
    """Create the session.

    Raises:
        SessionError: the runtime refuses.
    """
    started = time.perf_counter_ns()
    importlib.import_module("onnxruntime")
    imported = time.perf_counter_ns()
    _state.session, _state.device = open_session(model, config), config.device
    created = time.perf_counter_ns()
    _state.names = tuple(item.name for item in _state.session.get_outputs())
    return Opened(
        (imported - started) / 1e6,
        (created - imported) / 1e6,
        tuple(_state.session.get_providers()),
        {name: len(nodes) for name, nodes in assigned_nodes(_state.session).items()},
    )


def first_run(
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    device: str,
    transfers: bool = False,
) -> tuple[float, dict[str, Array]]:
    """Latency of the very first run, and what it computed.

    Args:
        inputs: by name.
        outputs: arrays of the right type and shape, for buffers on the device.
        device: `host`, or a device to keep inputs and outputs on, such as `cuda:0`.
        transfers: whether every run copies them there and back again.
    """
    known = {item.name for item in _state.session.get_inputs()}
    wanted = {name: array for name, array in inputs.items() if name in known}
    try:
        _state.run = (
            _host_run(_state.session, wanted)
            if device == "host"
            else _device_run(_state.session, wanted, outputs, device=device, transfers=transfers)
        )
    except (RuntimeError, TypeError, ValueError) as error:  # what cannot lie on the device
        raise refusal(error, device=_state.device) from error
    started = time.perf_counter_ns()
    found = _guarded(_state.run)
    latency_ms = (time.perf_counter_ns() - started) / 1e6
    gc.collect()
    gc.freeze()  # what is here stays; collecting after every block would go through it again
    # The runtime may reuse its buffers for the next run.
    return latency_ms, {
        name: np.array(_as_array(item)) for name, item in zip(_state.names, found, strict=True)
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


def _as_array(item: Any) -> Array:
    """An output as an array; the runtime gives values for types that numpy lacks."""
    if isinstance(item, np.ndarray):
        return cast("Array", item)
    if not hasattr(item, "is_tensor") or not item.is_tensor():
        raise SessionError("An output is no tensor; models with such outputs are not measured.")
    return array_of(item)


def _guarded(run: Callable[[], list[Any]]) -> list[Any]:
    try:
        return run()
    except (SessionError, MemoryError):
        raise
    except Exception as error:  # the runtime has a dozen classes for this
        raise refusal(error, device=_state.device) from error


def _host_run(session: Any, inputs: Mapping[str, Array]) -> Callable[[], list[Any]]:
    types = [item.type for item in (*session.get_inputs(), *session.get_outputs())]
    if needs_values(types):
        values = {name: value_of(array) for name, array in inputs.items()}
        return lambda: session.run_with_ort_values(None, values)
    feeds = dict(inputs)
    return lambda: session.run(None, feeds)


def _device_run(
    session: Any,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    *,
    device: str,
    transfers: bool,
) -> Callable[[], list[Any]]:
    """Inputs and outputs at fixed addresses on the device, copied there and back if asked."""
    bound = BoundRun(session, inputs, outputs, device=device)
    first = True

    def run() -> list[Any]:
        nonlocal first
        if transfers:
            bound.fill()
        bound()
        if not first and not transfers:
            return []
        first = False
        return bound.results()

    return run
