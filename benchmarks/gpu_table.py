"""What the GPU benchmark found, as rows, as a table and as a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from profiling.machine import Machine
from profiling.records import Measurement, Recording

TITLES = {
    "resnet50": "ResNet-50, 1×3×224²",
    "mobilenetv2": "MobileNetV2, 1×3×224²",
    "bert": "BERT-base, 1×128 tokens",
    "vit": "ViT-B/16, 1×3×224²",
    "gpt2": "GPT-2, one token after 512",
    "llama": "6 Llama blocks of 2048, 1×512 tokens",
    "whisper": "Whisper small, encoder, 30 s",
    "swin": "Swin-T, 1×3×224²",
}
"""The networks, and what they are called with the size of their input."""

COLUMNS = (
    "ONNX Runtime",
    "+ Passlens",
    "+ CUDA Graph",
    "+ kernel options",
    "+ float16",
    "torch eager",
    "torch.compile",
    "torch eager float16",
    "torch.compile float16",
)
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One way to run one network.

    Attributes:
        network: its id.
        title: of the network.
        column: one of `COLUMNS`.
        p50_ms: median latency from device memory to device memory; None if not measured.
        verdict: against the network's first row, where both ran in one race.
        note: options beyond the column's name.
        error: why there is no number.
        compile_ms: creating the session or compiling, and the first run.
        peak_bytes: most memory; of the process, or for torch of its allocator on the device.
        runs: of the steady state.
    """

    network: str
    title: str
    column: str
    p50_ms: float | None = None
    p95_ms: float | None = None
    min_ms: float | None = None
    verdict: str = ""
    note: str = ""
    error: str = ""
    compile_ms: float | None = None
    peak_bytes: int = 0
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Ideal:
    """The time below which no implementation can come at the rates this device was seen to reach.

    Attributes:
        float32_ms: the larger of FLOPs over the rate of matrix products and of bytes (weights,
            inputs, outputs, each once) over the bandwidth of a copy.
        float16_ms: the same with half the bytes and the rate of float16.
    """

    float32_ms: float
    float16_ms: float


@dataclass(frozen=True, slots=True)
class Rates:
    """What a device reached: GB/s of a large copy, TFLOP/s of large matrix products."""

    copy_gb_s: float
    float32_tflop_s: float
    float16_tflop_s: float


def ideal(rates: Rates, *, flops: int, weight_bytes: int, io_bytes: int) -> Ideal:
    """The roofline of a whole float32 network.

    Args:
        rates: measured on the device.
        flops: of one inference; a multiply-accumulate counts 2.
        weight_bytes: in float32.
        io_bytes: inputs and outputs, float32 in both precisions.
    """
    bandwidth = rates.copy_gb_s * 1e9

    def limit(rate: float, weights: float) -> float:
        return 1000 * max(flops / (rate * 1e12), (weights + io_bytes) / bandwidth)

    return Ideal(
        limit(rates.float32_tflop_s, weight_bytes), limit(rates.float16_tflop_s, weight_bytes / 2)
    )


def markdown(
    rows: Sequence[Row], ideals: Mapping[str, Ideal], *, rates: Rates | None, where: str
) -> str:
    """The table, one line a network, and under it what was not measured and why."""
    head = ["network", *COLUMNS, "roofline float32", "roofline float16"]
    lines = [
        "# GPU benchmark",
        where,
        _rates_text(rates),
        "Median milliseconds of one inference, from device memory to device memory.",
        _line(head) + "\n" + _line(["---"] * len(head)),
    ]
    found = {(row.network, row.column): row for row in rows}
    for network in dict.fromkeys(row.network for row in rows):
        title = next(row.title for row in rows if row.network == network)
        cells = [_cell(found.get((network, column))) for column in COLUMNS]
        limits = ideals.get(network)
        ends = ["–", "–"] if limits is None else [_ms(limits.float32_ms), _ms(limits.float16_ms)]
        lines[-1] += "\n" + _line([title, *cells, *ends])
    return "\n\n".join([*filter(None, lines), *_notes(rows)]) + "\n"


def _notes(rows: Sequence[Row]) -> list[str]:
    """Options and reasons, those that several columns of a network share in one line."""
    columns: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if text := row.error or row.note:
            columns.setdefault((row.title, text), []).append(row.column)
    lines = [f"* {title}, {', '.join(of)}: {text}" for (title, text), of in columns.items()]
    return ["\n".join(lines)] if lines else []


def recording(
    rows: Sequence[Row],
    ideals: Mapping[str, Ideal],
    *,
    rates: Rates | None,
    machine: Machine,
    started_at: str,
    seconds: float,
) -> Recording:
    """The same for the database and the bundle."""
    measured = sum(row.p50_ms is not None for row in rows)
    payload: dict[str, Any] = {
        "format": FORMAT,
        "rows": [asdict(row) for row in rows],
        "ideals": {network: asdict(limits) for network, limits in ideals.items()},
        "rates": None if rates is None else asdict(rates),
    }
    return Recording(
        kind="benchmark",
        title=f"GPU benchmark: {measured} of {len(rows)} rows measured",
        model="eight networks",
        model_hash="",
        machine=machine,
        started_at=started_at,
        seconds=seconds,
        measurements=tuple(_measurement(row) for row in rows),
        payload=payload,
    )


def _measurement(row: Row) -> Measurement:
    return Measurement(
        label=f"{row.title}: {row.column}",
        p50_ms=row.p50_ms,
        p95_ms=row.p95_ms,
        min_ms=row.min_ms,
        create_ms=row.compile_ms,
        runs=row.runs,
        peak_bytes=row.peak_bytes,
        error=row.error,
        verdict=row.verdict,
    )


def _rates_text(rates: Rates | None) -> str:
    if rates is None:
        return ""
    return (
        f"Measured on it: copy {rates.copy_gb_s:,.0f} GB/s, matrix products "
        f"{rates.float32_tflop_s:,.3g} TFLOP/s in float32 (TF32 where the device has it), "
        f"{rates.float16_tflop_s:,.3g} in float16."
    )


def _cell(row: Row | None) -> str:
    if row is None or row.p50_ms is None:
        return "not measured"
    return _ms(row.p50_ms)


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.3g}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
