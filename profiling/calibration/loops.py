"""This machine as the guesses about loops want it: rates of its calibration, if there is one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from optimizer.cost.classes import OperatorClass
from optimizer.cost.device import DeviceProfile
from optimizer.schedules.machine_model import USUAL, MachineModel, MemoryLevel
from profiling.calibration.calibrate import cached
from profiling.codegen.kernel import VECTOR_BITS
from profiling.codegen.levels import cpu_level

_FLOAT_BYTES = 4
_FLOAT_BITS = 32


def machine_here(folder: Path) -> MachineModel:
    """This machine, with what its calibration measured; usual numbers for the rest.

    Args:
        folder: where calibrations are kept.
    """
    here = replace(
        USUAL,
        threads=len(os.sched_getaffinity(0)),
        lanes=VECTOR_BITS[cpu_level()] // _FLOAT_BITS,
    )
    device = cached(folder)
    return here if device is None else with_rates(here, device)


def with_rates(machine: MachineModel, device: DeviceProfile) -> MachineModel:
    """A machine with the bandwidths and the products of a calibration of one thread.

    The runtime's products are as good as any: one multiplication and one addition an instruction.
    """
    caches = [level.size_bytes for level in device.levels]
    rates = [level.bytes_per_s for level in device.levels]
    levels = machine.levels
    if len(caches) == len(levels):
        sizes = [levels[0].size_bytes, *(size or 0 for size in caches[:-1])]
        levels = tuple(
            MemoryLevel(level.name, size, rate, level.shared)
            for level, size, rate in zip(levels, sizes, rates, strict=True)
        )
    gemm = device.rates.get(OperatorClass.GEMM)
    lanes = machine.vector_bytes // _FLOAT_BYTES
    operation_ns = machine.operation_ns if gemm is None else 1e9 * 2 * lanes / gemm.best
    source = (
        f"{device.source} Bandwidths and vector operations are from there; the rest is usual for "
        "a server core."
    )
    return replace(
        machine,
        name="this machine, as calibrated",
        source=source,
        operation_ns=operation_ns,
        levels=levels,
    )
