"""Devices that times can be predicted for: this CPU, and data sheets."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from optimizer.cost.device import DeviceProfile
from optimizer.cost.devices import devices
from optimizer.isolation import Progress
from profiling.calibration import cached, calibrate
from profiling.workers import WorkerPool
from studio.artifacts.cache_folder import cache_folder

THIS = "this"
"""The machine that the studio runs on."""


def known_devices() -> dict[str, DeviceProfile | None]:
    """By id, this CPU first; None for it as long as it was not calibrated."""
    sheets: dict[str, DeviceProfile | None] = {device.id: device for device in devices()}
    return {THIS: cached(cache_folder()), **sheets}


def calibration_key() -> Hashable:
    """The key of the task of `calibrate_here`."""
    return ("calibration", THIS)


def calibrate_here(
    pool: WorkerPool, *, progress: Progress, cancelled: Callable[[], bool]
) -> DeviceProfile:
    """Measure this CPU and keep what was found.

    Raises:
        StudioError: the runtime does not run here, or it was cancelled.
    """
    return calibrate(pool, folder=cache_folder(), progress=progress, cancelled=cancelled)
