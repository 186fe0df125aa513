"""What generated kernels bring whole networks, as a table beside what is promised."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.report import section
from optimizer.numbers import times_text
from profiling.kernels.generated.network import NetworkDecision, gave
from profiling.kernels.generated.regions import KINDS, Kind

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
    "audio": (0.92, ("pub_dnsmos", "pub_silero_vad_16k", "pub_basic_pitch")),
    "convolutional": (1.02, ("mobilenetv2_ts_op12_eval", "resnet50_ts")),
}
"""What is promised, of the best time without kernels, and the beginnings of the names."""

_MOST_MEAN = 0.92
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
        return 1 + min(2.0, self.path.stat().st_size / 1e8)


def report(found: Mapping[Network, NetworkDecision], threads: int) -> Iterator[str]:
    """The table, what it comes to, what gave it, and what was taken back."""
    yield f"On {'one thread' if threads == 1 else f'{threads} threads'}:"
    yield ""
    yield (
        "| network | best without kernels | ms | all kernels | kernels that stay | time "
        "| 95 % interval | promised |"
    )
    yield "|---|---|--:|--:|--:|--:|---|--:|"
    for network, one in found.items():
        yield _row(network, one)
    yield ""
    yield from _means(found)
    yield ""
    for network, one in found.items():
        yield f"- {network.name}: {_gave(one)}"
    yield ""
    for network, one in found.items():
        for kernel, reason in one.left_out():
            yield f"- {network.name}, left out: {kernel.region.title}: {reason}"


def _row(network: Network, found: NetworkDecision) -> str:
    settled = found.settled
    times = {timing.label: timing.summary for timing in settled.first.timings}
    best, tried, kept = times.get(settled.best), settled.tried, settled.contrast
    same = found.same.get(settled.best, ())
    promised = GROUPS.get(network.group)
    cells = [
        network.name,
        " = ".join([settled.best, *same[:1]]) + (" = …" if len(same) > 1 else ""),
        "—" if best is None else f"{best.p50_ms:.3g}",
        "—" if tried is None else f"{1 / tried.speedup:.3f}",
        f"{len(settled.kept)} of {len(found.kernels)}",
        "1.00" if kept is None else f"{1 / kept.speedup:.3f}",
        "—" if kept is None else f"{1 / kept.high:.3f}–{1 / kept.low:.3f}",
        "" if promised is None else f"{promised[0]:.2f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _means(found: Mapping[Network, NetworkDecision]) -> Iterator[str]:
    """Geometric means, of all and of each group, beside what is promised."""
    promised = {network: one.time for network, one in found.items() if network.group}
    every = [time for network, time in promised.items() if network.group != "convolutional"]
    if every:
        yield f"- geometric mean of {len(every)}: {_against(every, _MOST_MEAN)}"
    rest = [time for one, time in promised.items() if one.group not in ("convolutional", "Mamba")]
    if rest and len(rest) < len(every):
        yield f"- the same without Mamba, of {len(rest)}: {_mean(rest):.3f}"
    for group, (most, _) in GROUPS.items():
        times = [time for network, time in promised.items() if network.group == group]
        if times:
            yield f"- {group}: {_against(times, most)}"


def _against(times: Sequence[float], most: float) -> str:
    met = "met" if _mean(times) <= most else "not met"
    return f"{_mean(times):.3f} (at most {most:.2f} promised: {met})"


def _mean(times: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, times)) / len(times))


def _gave(found: NetworkDecision) -> str:
    """The regions that gave it, by kind; those that save most by their races alone first."""
    if not found.settled.kept:
        return "nothing pays" if found.kernels else "nothing in it becomes a kernel"
    return "; ".join(filter(None, (_of_kind(found, kind) for kind in KINDS)))


def _of_kind(found: NetworkDecision, kind: Kind) -> str:
    kernels, measured = found.kept(kind), gave(found, kind)
    if not kernels:
        return ""
    told = [one.text for one in kernels[:_SHOWN]]
    more = [f"{len(kernels) - _SHOWN} more"] if len(kernels) > _SHOWN else []
    share = "" if measured is None else f" {times_text(measured)}"
    return f"{kind}{share}: {'; '.join([*told, *more])}"


def lines(
    results: Mapping[int, Mapping[Network, NetworkDecision]],
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
