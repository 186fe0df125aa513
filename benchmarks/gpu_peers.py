"""The GPU benchmark's other processes: exporting, optimizing, and PyTorch's rows.

PyTorch runs in an interpreter of its own (`benchmarks.gpu_torch`), so that Passlens needs none.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu_table import TITLES, Rates, Row
from optimizer.verify import Feed

_PREPARING_S = 240
"""Most seconds for exporting or optimizing one network."""

_LEAST_S = 60

TORCH_ROWS = (
    ("torch eager", "eager", False),
    ("torch eager float16", "eager", True),
    ("torch.compile float16", "compile", True),
    ("torch.compile", "compile", False),
)
"""The compiled ones last: they take minutes and are the first to be left out for want of time."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What the command line asked for."""

    networks: tuple[str, ...]
    device: str
    seconds: float
    minutes: float
    small: bool
    python: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A network's files, or why there are none.

    Attributes:
        feeds: how its inputs are filled.
        flops: of one inference.
        weight_bytes: in float32.
        io_bytes: inputs and outputs.
    """

    network: str
    title: str
    folder: Path
    error: str = ""
    feeds: tuple[Feed, ...] = ()
    flops: int = 0
    weight_bytes: int = 0
    io_bytes: int = 0


def prepare(name: str, folder: Path, setup: Setup) -> Prepared:
    """Export both precisions, and optimize them with the preset `cuda`."""
    home = folder / name
    small = ["--small"] if setup.small else []
    export = [setup.python, "-m", "benchmarks.gpu_torch", "export", name, str(home), *small]
    entry = Prepared(name, f"{name}, small" if setup.small else TITLES[name], home)
    if problem := _problem(export):
        return replace(entry, error=f"export failed: {problem}")
    for precision in ("float32", "float16"):
        source, target = home / f"{precision}.onnx", home / f"{precision}-optimized.onnx"
        command = [
            sys.executable, "-m", "studio.cli", "optimize", str(source), "-o", str(target),
            "--preset", "cuda", "--no-verify",
        ]  # fmt: skip
        if problem := _problem(command):
            return replace(entry, error=f"optimizing failed: {problem}")
    return entry


def _problem(command: Sequence[str]) -> str:
    """Run it; why it failed, empty if it did not."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_PREPARING_S
        )
    except subprocess.TimeoutExpired:
        return f"not done after {_PREPARING_S} s"
    return _last_line(done.stderr) if done.returncode else ""


def torch_rows(ready: Sequence[Prepared], setup: Setup, deadline: float) -> Iterator[Row]:
    """Column by column, so that every network has the quick ones before time is up."""
    waiting = len(ready) * len(TORCH_ROWS)
    for column, mode, half in TORCH_ROWS:
        for entry in ready:
            left = deadline - time.monotonic()
            # A compiled network may take the share of three; the quick ones leave that over. None
            # gets less than importing PyTorch takes from a cold disk.
            allowed = min(left, max(_LEAST_S, 3 * left / waiting))
            waiting -= 1
            say(f"{entry.network}: {column}")
            yield _torch_row(entry, setup, column=column, mode=mode, half=half, seconds=allowed)


def _torch_row(
    entry: Prepared, setup: Setup, *, column: str, mode: str, half: bool, seconds: float
) -> Row:
    row = Row(entry.network, entry.title, column)
    command = [
        setup.python, "-m", "benchmarks.gpu_torch", "time", entry.network, str(entry.folder),
        "--mode", mode, "--device", setup.device, "--seconds", str(setup.seconds / 3),
        *(["--half"] if half else []), *(["--small"] if setup.small else []),
    ]  # fmt: skip
    if seconds < 5:
        return replace(row, error="not measured: out of time")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return replace(row, error=f"not measured: not done after {seconds:.0f} s")
    if done.returncode:
        return replace(row, error=f"not measured: {_last_line(done.stderr)}")
    return _read(row, json.loads(done.stdout.splitlines()[-1]))


def _read(row: Row, found: dict[str, Any]) -> Row:
    if found["error"]:
        return replace(row, error=f"wrong result, so its time does not count: {found['error']}")
    latencies = found["latencies_ms"]
    p50, p95 = (float(value) for value in np.percentile(latencies, [50, 95]))
    return replace(
        row,
        p50_ms=p50,
        p95_ms=p95,
        min_ms=min(latencies),
        note=f"torch {found['torch']}",
        compile_ms=found["create_ms"] + found["first_ms"],
        peak_bytes=found["peak_bytes"],
        runs=len(latencies),
    )


def measured_rates(setup: Setup) -> Rates | None:
    """What the device reaches; None where PyTorch cannot say."""
    size = "512" if setup.small else "8192"
    command = [
        setup.python, "-m", "benchmarks.gpu_torch", "rates", "--device", setup.device,
        "--size", size,
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_PREPARING_S
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return None
    found = json.loads(done.stdout.splitlines()[-1])
    names = asdict(Rates(0, 0, 0))
    return Rates(**{name: found[name] for name in names})


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"


def say(text: str) -> None:
    """Tell whoever waits what is going on."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
