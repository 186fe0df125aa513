"""This machine as a device profile, measured through ONNX Runtime itself and kept in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from optimizer.cost.device import DEVICE_FORM, DeviceProfile
from optimizer.errors import StudioError
from optimizer.isolation import Progress, silent
from optimizer.limits import JobLimits
from optimizer.numbers import counted
from profiling.calibration.derive import derive, footprints, levels, samples
from profiling.calibration.launches import launches_of
from profiling.calibration.table import micros
from profiling.calibration.timing import faster_half, faster_halves, time_launches, time_micros
from profiling.config import RunConfig
from profiling.machine import Machine, this_machine
from profiling.workers import WorkerPool

CALIBRATED = RunConfig(graph_optimization="disabled", intra_threads=1, denormals_as_zero=True)
"""Optimizations off, so that the micro models run as they are; one thread."""

_LIMITS = JobLimits(seconds=120.0)
_BUSY_SHARE = 0.75
_LAUNCHED = 0.25
"""The part of the work that is done when launches were timed."""

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_USUAL_CACHES = (1 << 20, 16 << 20)


class CalibrationError(StudioError):
    """The machine cannot be calibrated."""


@dataclass(frozen=True, slots=True)
class Timings:
    """What was measured, in microseconds.

    Attributes:
        launches_us: each node of `launches.model()`, by name, without what the profiler takes.
        micros_us: each micro model's node; None where the runtime refuses it. What the profiler
            takes is in all of them and goes with the launch.
        load: processes that wanted to run when it began.
    """

    launches_us: Mapping[str, float]
    micros_us: tuple[float | None, ...]
    load: float

    @classmethod
    def over(cls, rounds: Sequence[Timings]) -> Timings:
        """Of several measurements on one machine: of each time the mean of the faster half."""
        micros = zip(*(one.micros_us for one in rounds), strict=True)
        ran = ([us for us in times if us is not None] for times in micros)
        return cls(
            faster_halves([one.launches_us for one in rounds]),
            tuple(faster_half(times) if times else None for times in ran),
            min(one.load for one in rounds),
        )


def calibrate(
    pool: WorkerPool,
    config: RunConfig = CALIBRATED,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> DeviceProfile:
    """Measure this machine in a few seconds; alone, for there is one bench.

    Args:
        pool: gives the worker.
        config: device and threads; optimizations should be off.
        folder: where `cached` will find it; None to keep nothing.
        progress: told of, from 0 to 1.
        cancelled: asked now and then.

    Raises:
        CalibrationError: too little could be measured.
        RunError: the worker failed, or it was cancelled.
        StudioError: the file cannot be written.
    """
    timings = measure(pool, config, progress=progress, cancelled=cancelled)
    device = profile_of(timings, config)
    if folder is not None:
        _keep(device, path_of(folder, config))
    return device


def measure(
    pool: WorkerPool,
    config: RunConfig = CALIBRATED,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Timings:
    """The times of all micro models.

    Raises:
        RunError: the worker failed, or it was cancelled.
    """
    table, load = micros(footprints(cache_sizes())), this_machine().load
    report = progress or silent
    report("launches", 0.0)
    with pool.measuring(cancelled=cancelled) as bench:
        worker = bench.worker(fresh=config.device != "cpu")
        launched = worker.run(time_launches, config, limits=_LIMITS, cancelled=cancelled)
        times = worker.run(
            time_micros, table, config, limits=_LIMITS, cancelled=cancelled,
            progress=lambda text, share: report(text, _LAUNCHED + (1 - _LAUNCHED) * share),
        )  # fmt: skip
    return Timings(launched, tuple(times), load)


def profile_of(timings: Timings, config: RunConfig = CALIBRATED) -> DeviceProfile:
    """The device profile that follows from the times.

    Raises:
        CalibrationError: too little could be measured.
    """
    caches = cache_sizes()
    measured = samples(micros(footprints(caches)), timings.micros_us)
    found, memory = derive(measured), levels(measured, caches)
    enough = len(memory) == len(footprints(caches)) and len(found.rates) >= 3
    if not enough or not timings.launches_us:
        raise CalibrationError("ONNX Runtime refused too many micro models; nothing was kept.")
    machine, now = this_machine(), datetime.now(UTC)
    launches_us, far_us = launches_of(timings.launches_us, memory[0].size_bytes or 0)
    return DeviceProfile(
        id="this",
        name=machine.cpu if config.device == "cpu" else machine.gpu,
        source=_source(config, machine, timings.load),
        date=now.isoformat(timespec="seconds"),
        measured=True,
        threads=config.intra_threads if config.device == "cpu" else 0,
        rates=found.rates,
        levels=memory,
        strided=found.strided,
        launch_us=median(launches_us.values()),
        launches_us=launches_us,
        far_us=far_us,
        operators=found.operators,
        packing=found.packing,
        element_operations=found.element_operations,
    )


def cached(folder: Path, config: RunConfig = CALIBRATED) -> DeviceProfile | None:
    """What was measured on this machine with this runtime; None if nothing was, or it is broken."""
    try:
        return DEVICE_FORM.loads(path_of(folder, config).read_bytes())
    except (OSError, StudioError):
        return None


def path_of(folder: Path, config: RunConfig = CALIBRATED) -> Path:
    """The file of a calibration: named after machine, runtime, device and threads."""
    told = asdict(replace(this_machine(), load=0.0)) | {
        "device": config.device, "threads": config.intra_threads, "format": DEVICE_FORM.schema,
        "denormals_as_zero": config.denormals_as_zero,
    }  # fmt: skip
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    return folder / f"calibration-{digest[:16]}.json"


def cache_sizes() -> tuple[int, int]:
    """Bytes of the second-level cache and of the last level; usual ones where they are not told."""
    found: dict[int, int] = {}
    for index in sorted(_CACHES.glob("index*")):
        try:
            level, size = (index / "level").read_text(), (index / "size").read_text().strip()
            found[int(level)] = int(size.removesuffix("K")) << 10
        except (OSError, ValueError):
            continue
    second, last = found.get(2), found.get(max(found, default=0))
    if not second or not last or last <= second:
        return _USUAL_CACHES
    return second, last


def _source(config: RunConfig, machine: Machine, load: float) -> str:
    threads = counted(config.intra_threads, "thread")
    how = "all threads" if config.intra_threads == 0 else threads
    where = how if config.device == "cpu" else config.device
    found = f"Measured here with micro models through {machine.runtime}, {where}."
    if load < _BUSY_SHARE * machine.cores:
        return found
    return f"{found} The machine was busy (load {load:.1f}): calibrate again when it is quiet."


def _keep(device: DeviceProfile, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_bytes(DEVICE_FORM.dumps(device))
        unfinished.replace(path)
    except OSError as error:
        raise StudioError(f"The calibration cannot be kept ({error.strerror}).") from error
