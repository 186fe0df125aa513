"""What a device can do: rates by class of operator, bandwidths by level of memory, launch cost."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from optimizer.codec import Format, written_as
from optimizer.cost.classes import OperatorClass


@dataclass(frozen=True, slots=True)
class RateCurve:
    """A rate that depends on a size.

    Attributes:
        points: (size, rate per second), by size; between them it runs straight on logarithmic
            axes, outside it stays as at the nearest one.
    """

    points: tuple[tuple[float, float], ...]

    def at(self, size: float) -> float:
        """The rate at a size."""
        after = bisect_right(self.points, size, key=lambda point: point[0])
        if after == 0 or after == len(self.points):
            return self.points[min(after, len(self.points) - 1)][1]
        (low, slow), (high, fast) = self.points[after - 1], self.points[after]
        part = math.log(size / low) / math.log(high / low)
        return slow * (fast / slow) ** part

    @property
    def best(self) -> float:
        """The highest rate."""
        return max(rate for _, rate in self.points)


def flat(rate: float) -> RateCurve:
    """The same rate at every size."""
    return RateCurve(((1.0, rate),))


@dataclass(frozen=True, slots=True)
class Level:
    """A cache, or the memory behind them.

    Attributes:
        size_bytes: what fits; None for the memory itself, the last level.
        bytes_per_s: at which one operator reads what lies here.
        write_bytes_per_s: at which it writes; a line that is written is often read first. None
            where it is the same.
    """

    name: str
    size_bytes: int | None
    bytes_per_s: float
    write_bytes_per_s: float | None = None

    @property
    def writing(self) -> float:
        """Bytes written a second."""
        return self.bytes_per_s if self.write_bytes_per_s is None else self.write_bytes_per_s


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """Everything the prediction knows about a device.

    Attributes:
        id: short name.
        source: one sentence that says where the numbers are from and what they leave out.
        date: of the measurement or of the data sheet, ISO 8601.
        measured: here, and not read from a data sheet.
        threads: of the CPU; 0 on a GPU.
        rates: floating-point operations a second by class, by the width that `width_of` gives;
            of the elementwise classes elementary operations of the machine.
        element_operations: elementary operations of the machine that one element takes, by
            operator; 1 for those that are not named.
        levels: from the smallest cache to the memory.
        strided: bytes a second of classes that move data, by the width that `width_of` gives.
        launch_us: microseconds before an operator does anything, with all that it reads near.
        launches_us: the same for single operators, and for what `launched_as` names.
        far_us: what each operand adds that was last used long ago, and the operator itself.
        operators: curves of single operators that differ from their class; operations a second,
            or bytes a second for classes that move data.
        packing: bytes a second at which the one right side of a matrix product is laid out anew
            when it is no constant, by its bytes; None where that costs nothing. The rates of
            batched products contain it.
        faster: how much faster matrix units compute than with float32, by element type.
    """

    id: str
    name: str
    source: str
    date: str
    measured: bool
    threads: int
    rates: Mapping[OperatorClass, RateCurve]
    levels: tuple[Level, ...]
    strided: Mapping[OperatorClass, RateCurve]
    launch_us: float
    launches_us: Mapping[str, float] = field(default_factory=dict[str, float])
    far_us: float = 0.0
    operators: Mapping[str, RateCurve] = field(default_factory=dict[str, RateCurve])
    packing: RateCurve | None = None
    element_operations: Mapping[str, float] = field(default_factory=dict[str, float])
    faster: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def title(self) -> str:
        """Its name; where nothing was measured, that it is a data sheet's."""
        return self.name if self.measured else f"{self.name} (data sheet)"

    def level(self, size_bytes: int) -> Level:
        """The smallest level whose size suffices for so many bytes."""
        for level in self.levels:
            if level.size_bytes is None or size_bytes <= level.size_bytes:
                return level
        return self.levels[-1]

    def launch(self, operator: str, far: float = 0.0) -> float:
        """Microseconds before an operator does anything, with so much of what it reads far."""
        return self.launches_us.get(operator, self.launch_us) + self.far_us * far

    @property
    def near_bytes(self) -> int:
        """What the nearest level holds; 0 where there is only memory."""
        return self.levels[0].size_bytes or 0

    @property
    def memory(self) -> Level:
        """The level behind all caches."""
        return self.levels[-1]

    @property
    def peak_flops(self) -> float:
        """The highest rate of any class: the flat part of the roofline."""
        return max(curve.best for curve in self.rates.values())


written_as(OperatorClass, lambda kind: kind.value, OperatorClass)
DEVICE_FORM = Format(DeviceProfile, "passlens.device-profile/10", "device profile")
"""How a device profile is written, whoever reads it."""
