"""GPU memory over profiled runs, as the driver tells it. Only in a worker."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence

from profiling.config import RunConfig
from profiling.cuda.device import DeviceSample, Unavailable, watching
from profiling.timeline.memory import MemoryCurve

PERIOD_S = 0.005
SILENT = "The driver does not tell how much of this GPU's memory is taken."


class DeviceMemory:
    """Samples a GPU's memory while runs go on.

    Args:
        number: of the GPU, as the runtime counts.

    Attributes:
        curves: one a run, unless something is missing.
        missing: why there are none, one sentence; empty if there are.
    """

    def __init__(self, number: int = 0) -> None:
        self._number = number
        self.curves: list[MemoryCurve] = []
        self.missing = ""

    @contextlib.contextmanager
    def over_a_run(self) -> Generator[None]:
        """What runs inside is one run; it runs as well where nothing can be sampled."""
        with contextlib.ExitStack() as stack:
            samples = None
            if not self.missing:
                try:
                    samples = stack.enter_context(watching(self._number, period_s=PERIOD_S))
                except Unavailable as error:
                    self._give_up(error.message)
            yield
        if samples is not None:
            curve = device_curve(samples)
            if curve is None:
                self._give_up(SILENT)
            else:
                self.curves.append(curve)

    def _give_up(self, reason: str) -> None:
        """A curve a run or none at all: nobody shall look for the run that has none."""
        self.missing = reason
        self.curves.clear()


def device_memory_for(config: RunConfig) -> DeviceMemory | None:
    """What samples the device of a configuration; None where that is the CPU."""
    return None if config.device == "cpu" else DeviceMemory(config.device_id)


def device_curve(samples: Sequence[DeviceSample]) -> MemoryCurve | None:
    """The samples of one run as a curve: what is taken on the GPU, by everybody.

    The share of a process is no use here: in a container the driver does not know it.

    Args:
        samples: taken since the run began.
    """
    told = [(sample.time_ms, sample.used_bytes) for sample in samples]
    known = [(round(ms * 1000), used) for ms, used in told if used is not None]
    if not known:
        return None
    return MemoryCurve("device", tuple(us for us, _ in known), tuple(used for _, used in known), ())
