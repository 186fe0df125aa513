"""What generated kernels bring whole networks, as a table beside what is promised."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.report import section
from profiling.kernels.generated.settling import PartRace, SettledNetwork

GROUPS: Mapping[str, tuple[float, tuple[str, ...]]] = {
    "BERT": (0.97, ("bert_base_ts", "distilbert_ts")),
    "ViT": (0.97, ("vit_small_ts",)),
    "Whisper": (0.97, ("whisper_tiny_encoder_ts",)),
    "Llama": (0.97, ("llama_2l_ts",)),
    "Swin": (0.90, ("swin_tiny_ts",)),
    "ConvNeXt": (0.90, ("convnext_tiny_ts",)),
    "SegFormer": (0.90, ("segformer_b0_ts",)),
    "GPT-2": (0.90, ("gpt2_slim_ts",)),
    "Mamba": (0.65, ("mamba_4l_ts",)),
    "convolutional": (1.02, ("mobilenetv2_ts_op12_eval", "resnet50_ts")),
}
"""What is promised, of the best time without kernels, and the beginnings of the names."""

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Network:
    """One row of the table.

    Attributes:
        path: of the file as it came.
        group: what is promised about it is promised about these; empty for none.
    """

    path: Path
    group: str

    @property
    def name(self) -> str:
        """Of its row, and of its folder."""
        return self.path.stem

    @property
    def wants(self) -> float:
        """Its share of the time: large networks run longer."""
        return 1 + min(3.0, self.path.stat().st_size / 1e8)


def report(found: Mapping[Network, SettledNetwork], threads: int) -> Iterator[str]:
    """The table, what it comes to, and what was taken back."""
    yield f"On {'one thread' if threads == 1 else f'{threads} threads'}:"
    yield ""
    yield (
        "| network | best without kernels | ms | all kernels | kept | time | 95 % interval"
        " | kernels, those that promise most first |"
    )
    yield "|---|---|--:|--:|--:|--:|---|---|"
    for network, one in found.items():
        yield _row(network, one)
    yield ""
    yield from _means(found)
    for network, one in found.items():
        for part in one.parts:
            if not part.pays:
                yield f"- {network.name}: taken back: {_taken_back(part)}"


def _row(network: Network, found: SettledNetwork) -> str:
    times = {timing.label: timing.summary for timing in found.first.timings}
    best, tried, kept = times.get(found.best), found.tried, found.contrast
    cells = [
        network.name,
        found.best,
        "—" if best is None else f"{best.p50_ms:.3g}",
        "—" if tried is None else f"{1 / tried.speedup:.3f}",
        f"{len(found.kept)} of {len(found.kernels)}",
        "1.00" if kept is None else f"{1 / kept.speedup:.3f}",
        "—" if kept is None else f"{1 / kept.high:.3f}–{1 / kept.low:.3f}",
        ", ".join(found.kept[:_SHOWN]) or "—",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _means(found: Mapping[Network, SettledNetwork]) -> Iterator[str]:
    """Geometric means, of all and of each group, beside what is promised."""
    promised = {network: _time(one) for network, one in found.items() if network.group}
    every = [time for network, time in promised.items() if network.group != "convolutional"]
    if every:
        yield f"- geometric mean of {len(every)}: {_mean(every):.3f} (at most 0.92 promised)"
    rest = [time for one, time in promised.items() if one.group not in ("convolutional", "Mamba")]
    if rest and len(rest) < len(every):
        yield f"- the same without Mamba: {_mean(rest):.3f}"
    for group, (most, _) in GROUPS.items():
        times = [time for network, time in promised.items() if network.group == group]
        if times:
            met = "met" if _mean(times) <= most else "not met"
            yield f"- {group}: {_mean(times):.3f} (at most {most} promised: {met})"


def _time(found: SettledNetwork) -> float:
    return 1.0 if found.contrast is None else 1 / found.contrast.speedup


def _mean(times: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, times)) / len(times))


def _taken_back(part: PartRace) -> str:
    found = part.contrast
    if not found.rounds:
        return f"{', '.join(part.names)}: its result is another"
    time = f"{1 / found.speedup:.3f} of the time without, {1 / found.high:.3f}–{1 / found.low:.3f}"
    return f"{', '.join(part.names)}: {time}"


def lines(
    results: Mapping[int, Mapping[Network, SettledNetwork]],
    left_out: Sequence[str],
    not_reached: Sequence[str],
) -> Iterator[str]:
    """The whole report.

    Args:
        results: by number of threads.
        left_out: a line for each network that could not be run.
        not_reached: names.
    """
    yield describe("passlens", "onnxruntime-gpu", "halide")
    for threads, found in results.items():
        if found:
            yield ""
            yield from report(found, threads)
    yield from section("Left out:", left_out)
    yield from section("Not reached in the time given:", [f"- {name}" for name in not_reached])
