"""Collecting CUPTI's activity records around the runtime. Only in a worker with a GPU.

    with Collection() as collection:
        collection.run("run 1", session_call)
    trace = collection.trace

CUPTI has one client in a process: not together with the runtime's own GPU profile or torch's.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable
from types import TracebackType
from typing import Any

from profiling.cuda.device import INSTALL, Unavailable
from profiling.cuda.device_trace import DeviceTrace, Layer, RunRange, joined, trace_of
from profiling.execution.libraries import preload_cupti

_BUFFER_BYTES = 8 << 20
_NEEDED = ("CONCURRENT_KERNEL", "RUNTIME")
_WELCOME = ("MEMCPY", "MEMSET", "DRIVER", "OVERHEAD", "SYNCHRONIZATION", "MEMORY2")
"""Recorded where CUPTI offers them: an older driver or a container may not."""

_collecting: list[Collection] = []
"""The one that gets the records now; CUPTI takes its two functions once for the process."""

NO_PACKAGE = f"Records of GPU kernels need CUPTI, which is not installed; {INSTALL} brings it."
NO_DRIVER = "Records of GPU kernels need an NVIDIA driver, and there is none here."


class Collection:
    """Collects from entering to leaving; then `trace` has it.

    Raises:
        Unavailable: on entering, where the package or the driver is missing.
    """

    def __init__(self) -> None:
        self._cupti: Any = None
        self._enabled: list[Any] = []
        self._pieces: list[DeviceTrace] = []
        self._ranges: list[RunRange] = []
        self._unreadable: Exception | None = None
        self.trace = DeviceTrace((), ())

    def __enter__(self) -> Collection:
        self._cupti = _cupti()
        kinds = self._cupti.ActivityKind
        try:
            _register(self._cupti)
            for name in _NEEDED:
                self._enable(getattr(kinds, name))
        except Exception as error:  # CUPTI's own classes
            self._disable()
            raise refusal(error) from error
        for name in _WELCOME:
            with contextlib.suppress(Exception):
                self._enable(getattr(kinds, name))
        _collecting[:] = [self]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        forced = 1
        try:
            self._cupti.activity_flush_all(forced)
            self._disable()
            if self._unreadable is not None:
                raise self._unreadable
        except Exception as refused:  # CUPTI's own classes
            if error is None:
                raise refusal(refused) from refused
        finally:
            _collecting.clear()
        self.trace = joined(self._pieces, self._ranges)

    def run(self, label: str, call: Callable[[], object]) -> None:
        """Call, and note when, so that its records can be told from others."""
        start_ns = int(self._cupti.get_timestamp())
        call()
        self._ranges.append(RunRange(label, start_ns, int(self._cupti.get_timestamp())))

    def take(self, activities: list[Any]) -> None:
        """Read them at once: afterwards CUPTI has its buffer back.

        CUPTI calls this from native code, which an error must not reach: it is raised on leaving.
        """
        try:
            self._pieces.append(trace_of(activities, self._api_name))
        except Exception as error:  # a record in a form that is not known here
            self._unreadable = error

    def _enable(self, kind: Any) -> None:
        self._cupti.activity_enable(kind)
        self._enabled.append(kind)

    def _disable(self) -> None:
        for kind in self._enabled:
            self._cupti.activity_disable(kind)
        self._enabled.clear()

    def _api_name(self, layer: Layer, number: int) -> str:
        """One name unknown to this version of CUPTI must not cost the whole buffer."""
        domains = self._cupti.CallbackDomain
        domain = domains.DRIVER_API if layer == "driver" else domains.RUNTIME_API
        try:
            return str(self._cupti.get_callback_name(domain, number))
        except Exception:  # CUPTI's own classes
            return f"{layer} call {number}"


@functools.cache
def _register(cupti: Any) -> None:
    cupti.activity_register_callbacks(_request_buffer, _deliver)


def _deliver(activities: list[Any]) -> None:
    for collection in _collecting:
        collection.take(activities)


def _request_buffer() -> tuple[int, int]:
    as_many_as_fit = 0
    return _BUFFER_BYTES, as_many_as_fit


def _cupti() -> Any:
    preload_cupti()
    try:
        return importlib.import_module("cupti.cupti")
    except ImportError as error:
        raise Unavailable(NO_PACKAGE) from error


def refusal(error: Exception) -> Unavailable:
    """CUPTI's error as a sentence."""
    text = " ".join(str(error).split())
    if "driver is not found" in text.lower():
        return Unavailable(NO_DRIVER)
    return Unavailable(
        f"CUPTI refused to record ({text[:120]}); another profiler may be using it, "
        "or its version does not fit the driver."
    )
