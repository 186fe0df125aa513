"""Data sheets of devices that are not here.

Peak rates are the vendors', without sparsity; an operator's rate is the peak of the unit that it
runs on times a share that kernels of its class usually reach, stated below. They say in which
order nodes come and what limits them; for microseconds calibrate.

NVIDIA publishes no bandwidth of an L2: it is what some 20 MB gave, read again and again
(gpu-l2-cache in github.com/te42kyfo/gpu-benches).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from optimizer.cost.classes import OperatorClass
from optimizer.cost.device import DeviceProfile, Level, RateCurve, flat

_GPU_MATRIX_SHARE = {
    OperatorClass.DENSE_CONV: 0.6,
    OperatorClass.POINTWISE_CONV: 0.5,
    OperatorClass.GEMM: 0.7,
    OperatorClass.BATCHED_MATMUL: 0.4,
    OperatorClass.ATTENTION: 0.4,
    OperatorClass.RECURRENT: 0.2,
    OperatorClass.GROUPED_CONV: 0.1,
}
_GPU_VECTOR_SHARE = {
    OperatorClass.DEPTHWISE_CONV: 0.2,
    OperatorClass.NORMALIZATION: 0.5,
    OperatorClass.SOFTMAX: 0.5,
    OperatorClass.REDUCTION: 0.5,
    OperatorClass.POOLING: 0.5,
    OperatorClass.ELEMENTWISE: 0.5,
}
_CPU_SHARE = {
    OperatorClass.DENSE_CONV: 0.6,
    OperatorClass.POINTWISE_CONV: 0.7,
    OperatorClass.GEMM: 0.8,
    OperatorClass.BATCHED_MATMUL: 0.5,
    OperatorClass.ATTENTION: 0.5,
    OperatorClass.RECURRENT: 0.3,
    OperatorClass.GROUPED_CONV: 0.1,
    OperatorClass.DEPTHWISE_CONV: 0.1,
    OperatorClass.NORMALIZATION: 0.2,
    OperatorClass.SOFTMAX: 0.1,
    OperatorClass.REDUCTION: 0.2,
    OperatorClass.POOLING: 0.1,
    OperatorClass.ELEMENTWISE: 0.25,
}
_ELEMENT_OPERATIONS = {
    "Div": 4.0, "Sqrt": 4.0, "Reciprocal": 4.0, "Exp": 10.0, "Log": 10.0, "Erf": 16.0, "Gelu": 20.0,
    "FastGelu": 20.0, "BiasGelu": 20.0, "Sigmoid": 12.0, "Tanh": 14.0, "Pow": 20.0, "Square": 1.0,
    "Sin": 14.0, "Cos": 14.0, "Softplus": 20.0, "Swish": 13.0, "QuickGelu": 13.0, "HardSwish": 4.0,
}  # fmt: skip
_STRIDED_SHARE = {
    OperatorClass.COPY: 0.8,
    OperatorClass.GATHER: 0.5,
    OperatorClass.BLOCK_TRANSPOSE: 0.6,
}
_TRANSPOSE_SHARE = 0.4


_FASTER = {"FLOAT16": 2.0, "BFLOAT16": 2.0, "INT8": 4.0, "UINT8": 4.0}
_FLOAT8 = {"FLOAT8E4M3FN": 4.0, "FLOAT8E5M2": 4.0}


def _rates(peak: float, shares: Mapping[OperatorClass, float]) -> dict[OperatorClass, RateCurve]:
    return {kind: flat(peak * share) for kind, share in shares.items()}


def _strided(bytes_per_s: float) -> Mapping[OperatorClass, RateCurve]:
    by_run = {
        kind: RateCurve(((4.0, 0.5 * share * bytes_per_s), (128.0, share * bytes_per_s)))
        for kind, share in _STRIDED_SHARE.items()
    }
    return {OperatorClass.TRANSPOSE: flat(_TRANSPOSE_SHARE * bytes_per_s), **by_run}


def _gpu(
    profile_id: str, name: str, *, source: str, date: str, matrix: float, vector: float,
    levels: tuple[Level, Level], faster: Mapping[str, float],
) -> DeviceProfile:  # fmt: skip
    """A GPU: `matrix` is its TF32 peak, `vector` that of float32, `levels` L2 and the memory."""
    return DeviceProfile(
        id=profile_id,
        name=name,
        source=f"{source}; shares and launch are estimates, nothing was measured here.",
        date=date,
        measured=False,
        threads=0,
        rates=_rates(matrix, _GPU_MATRIX_SHARE) | _rates(vector, _GPU_VECTOR_SHARE),
        levels=levels,
        strided=_strided(levels[-1].bytes_per_s),
        launch_us=4.0,
        element_operations=_ELEMENT_OPERATIONS,
        faster=faster,
    )


H200 = _gpu(
    "h200",
    "NVIDIA H200 SXM",
    source=(
        "NVIDIA's H200 data sheet: 494 TFLOP/s TF32 and 989 TFLOP/s 16-bit dense on tensor cores, "
        "67 TFLOP/s float32, 4.8 TB/s; 9.7 TB/s from L2 (gpu-benches)"
    ),
    date="2024-11-18",
    matrix=494.5e12,
    vector=67e12,
    levels=(Level("L2", 50 << 20, 9.7e12), Level("HBM3e", None, 4.8e12)),
    faster=_FASTER | _FLOAT8,
)

A100 = _gpu(
    "a100",
    "NVIDIA A100 SXM 80 GB",
    source=(
        "NVIDIA's A100 data sheet: 156 TFLOP/s TF32 and 312 TFLOP/s 16-bit dense on tensor cores, "
        "19.5 TFLOP/s float32, 2.039 TB/s; 5.4 TB/s from L2 (gpu-benches)"
    ),
    date="2021-06-28",
    matrix=156e12,
    vector=19.5e12,
    levels=(Level("L2", 40 << 20, 5.4e12), Level("HBM2e", None, 2.039e12)),
    faster=_FASTER,
)

_X4_PEAK = 4 * 4 * 2 * 3.3e9  # four 128-bit pipes, four float32 each, multiply and add, 3.3 GHz

CORTEX_X4 = DeviceProfile(
    id="cortex-x4",
    name="Arm Cortex-X4, one core at 3.3 GHz",
    source=(
        "Arm's Cortex-X4 software optimization guide (four 128-bit multiply-add pipes) and "
        "Qualcomm's Snapdragon 8 Gen 3 brief (3.3 GHz, LPDDR5X at 4800 MHz); shares of the peak, "
        "cache bandwidths and launch are estimates, nothing was measured."
    ),
    date="2023-10-24",
    measured=False,
    threads=1,
    rates=_rates(_X4_PEAK, _CPU_SHARE),
    levels=(
        Level("L1", 64 << 10, 200e9),
        Level("L2", 2 << 20, 100e9),
        Level("L3", 12 << 20, 50e9),
        Level("LPDDR5X", None, 30e9),
    ),
    strided=_strided(30e9),
    launch_us=2.0,
    element_operations=_ELEMENT_OPERATIONS,
    faster=_FASTER,
)

X86_CORE = replace(
    CORTEX_X4,
    id="x86-core",
    name="x86-64, one core with AVX-512 at 2.5 GHz",
    source=(
        "Two 512-bit multiply-add pipes at 2.5 GHz; caches and memory as of a server processor; "
        "shares of the peak and launch are estimates, nothing was measured."
    ),
    date="2023-01-10",
    rates={
        kind: replace(curve, points=tuple((size, rate * 160 / 106) for size, rate in curve.points))
        for kind, curve in CORTEX_X4.rates.items()
    },
    levels=(
        Level("L1", 48 << 10, 300e9),
        Level("L2", 2 << 20, 100e9),
        Level("L3", 30 << 20, 30e9),
        Level("DDR5", None, 12e9),
    ),
)
"""Of which layouts and kernels are planned; nobody picks it from a list."""

DEVICES = (H200, A100, CORTEX_X4)
"""The data sheets, the fastest first."""
