"""Recordings to keep, none of them measured."""

from __future__ import annotations

from dataclasses import replace

from profiling.machine import Machine
from profiling.records import Measurement, Recording

XEON = Machine(
    cpu="Xeon 8481C",
    cores=16,
    memory_bytes=128 << 30,
    gpu="",
    system="Linux 6.1 x86_64",
    runtime="onnxruntime-gpu 1.31.1",
    load=0.25,
)
H100 = replace(XEON, gpu="NVIDIA H100 80GB HBM3, 570.1", load=1.5)

RACE = Recording(
    kind="race",
    title="Step 38 (optimized): 1.31× faster",
    model="resnet50",
    model_hash="ab" * 32,
    machine=XEON,
    started_at="2026-11-21T12:00:00+00:00",
    seconds=21.5,
    measurements=(
        Measurement("source", "0" * 64, 0, {}, 12.5, 13.1, 12.1, 80.25, 310.0, 400, 250_000_000),
        Measurement(
            "step 38 (optimized)",
            "1" * 64,
            38,
            {"intra_threads": 4, "tf32": False, "device": "cpu"},
            p50_ms=9.54,
            runs=520,
            verdict="1.31× faster, 95 % interval 1.27-1.36",
        ),
        Measurement("step 9", error="The worker died of SIGKILL."),
    ),
    payload={"blocks": [[12.1, 12.5], [0.1 + 0.2, 1e-300]], "nested": {"ünï": [None, True, ""]}},
)


def sample(number: int, **changes: object) -> Recording:
    """One of many, a minute later each."""
    return replace(
        RACE,
        title=f"Race {number}",
        started_at=f"2026-11-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z",
        **changes,
    )  # pyright: ignore[reportArgumentType] - the changes are fields
