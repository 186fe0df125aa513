"""A decision without a race's clock."""

from __future__ import annotations

from profiling.kernels.candidates import Candidate
from profiling.kernels.generated.decisions import KernelDecision
from profiling.kernels.hotspots import Hotspot
from profiling.kernels.selection import WorkloadRace
from profiling.kernels.workload import TensorSize, Workload
from tests.profiling.kernels.races import made_race

KEY = "5" * 64
SIZE = TensorSize("FLOAT", (64, 768))


def decision(halide_ms: float = 1.0, *, unavailable: str = "", key: str = KEY) -> KernelDecision:
    """The runtime in 2 ms, Halide in what is given, C in 3 ms."""
    work = Workload(key, "generated", "Add + Softmax on 64×768", ("Add", "Softmax"), (SIZE,), "{}")
    told = [
        Candidate("ONNX Runtime", "cpu"),
        Candidate("Halide", "cpu", unavailable=unavailable),
        Candidate("C", "cpu"),
    ]
    latencies = {"ONNX Runtime": 2.0, "Halide": halide_ms, "C": 3.0}
    if unavailable:
        del latencies["Halide"]
    operator = Hotspot(work, (("softmax",),), 0.0, 0.0)
    raced = WorkloadRace(operator, tuple(told), made_race(latencies))
    return KernelDecision("Add_Softmax_0123456789abcdef", 8, 1, {"Halide": 40, "C": 40}, raced)
