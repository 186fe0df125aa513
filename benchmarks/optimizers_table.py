"""The table of `benchmarks.optimizers`, what it comes to, and where somebody else leaves less."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.peers import PEERS
from benchmarks.report import section
from optimizer.codec import Format

OURS: Mapping[str, str] = {"passlens": "portable", "passlens-cpu": "cpu"}
"""Rows of ours, and their presets: standard operators, and ONNX Runtime's beside them."""

TIMES: Mapping[str, float] = {"onnxsim": 0.5, "onnxslim": 0.15}
"""Which share of a peer's CPU time ours may take, as a geometric mean."""

_ON_REQUEST = (
    "SkipLayerNormalization, BiasGelu and attention with its products inside take as long as what"
    " they stand for on a CPU, or longer: ours that make them are on request"
)
REASONS: Mapping[str, str] = {
    "pub_ultraface_RFB_320": (
        "its weights are graph inputs, too, which a caller may override: others take them for"
        " constants"
    ),
    **dict.fromkeys(("bert_base", "whisper_tiny", "vit_small"), _ON_REQUEST),
}
"""Why somebody leaves less, by the beginning of the model's name."""

_SHOWN = 5
_PATH = re.compile(r"\S*/optimized\.onnx")


@dataclass(frozen=True, slots=True)
class Found:
    """What one tool made of one model.

    Attributes:
        operators: how often each is left; empty where the tool wrote nothing.
        cpu_s: CPU time of optimizing, the lowest of the runs.
        problem: why there is no output, or what is wrong with it; empty where it agrees.
        scaled: largest difference of an output relative to its scale.
        compared: whether the source ran, so that there was something to compare with.
        runs: how often it was timed.
    """

    operators: Mapping[str, int] = field(default_factory=dict[str, int])
    cpu_s: float = 0.0
    problem: str = ""
    scaled: float = 0.0
    compared: bool = True
    runs: int = 1

    @property
    def nodes(self) -> int:
        """Those that are left."""
        return sum(self.operators.values())

    @property
    def agrees(self) -> bool:
        """Whether it computes what the source does."""
        return bool(self.operators) and not self.problem

    @property
    def cell(self) -> str:
        """Nodes left, in brackets where they compute something else."""
        if not self.operators:
            return "–"
        return str(self.nodes) if self.agrees else f"({self.nodes})"


@dataclass(frozen=True, slots=True)
class Row:
    """One model: its nodes, and what each tool made of it."""

    model: str
    nodes: int
    found: Mapping[str, Found] = field(default_factory=dict[str, Found])

    def fewest(self, tools: Iterable[str]) -> str | None:
        """The tool that leaves fewest nodes and agrees."""
        right = [tool for tool in tools if tool in self.found and self.found[tool].agrees]
        return min(right, key=lambda tool: self.found[tool].nodes, default=None)


ROWS = Format(Row, "passlens.optimizers/1", "comparison of optimizers")


def rivals(ours: str, tools: Sequence[str]) -> list[str]:
    """The tools that one of our presets is held to."""
    return [tool for tool in tools if tool not in OURS and (ours != "passlens" or tool in PEERS)]


def report(rows: Sequence[Row], tools: Sequence[str]) -> Iterator[str]:
    """The whole report."""
    yield from table(rows, tools)
    yield ""
    yield "In brackets: what does not compute the same, or has other inputs and outputs."
    for ours in OURS:
        yield from section(f"{ours}:", [*summary(rows, tools, ours)])
        title = f"{ours} leaves more than somebody else whose output agrees:"
        yield from section(title, [*more_than_others(rows, tools, ours)])
    yield from section("CPU time:", [*times(rows)])
    yield from section("No output, or one that does not agree:", [*problems(rows, tools)])


def table(rows: Sequence[Row], tools: Sequence[str]) -> Iterator[str]:
    """Nodes left, model by model, and our CPU time and theirs."""
    timed = ["passlens", *TIMES]
    yield "| " + " | ".join(["model", "nodes", *tools, *(f"{tool}, s" for tool in timed)]) + " |"
    yield "|---|" + "--:|" * (1 + len(tools) + len(timed))
    for row in rows:
        found = [row.found.get(tool, Found()) for tool in tools]
        seconds = [row.found.get(tool, Found()) for tool in timed]
        cells = [one.cell for one in found]
        cells += [f"{one.cpu_s:.2f}" if one.operators else "–" for one in seconds]
        yield f"| {row.model} | {row.nodes} | {' | '.join(cells)} |"


def summary(rows: Sequence[Row], tools: Sequence[str], ours: str) -> Iterator[str]:
    """How often a preset of ours leaves at most as much as all that agree, and medians."""
    held = [row for row in rows if row.found.get(ours, Found()).agrees]
    best = [row for row in held if not _beaten(row, tools, ours)]
    yield f"- agrees on {len(held)} of {len(rows)}"
    yield f"- at most the fewest nodes of all whose output agrees: {len(best)} of {len(held)}"
    grew = [row.model for row in held if row.found[ours].nodes > row.nodes]
    yield f"- grew: {', '.join(grew) or 'none'}"
    for tool in (ours, *rivals(ours, tools)):
        right = [row for row in rows if row.found.get(tool, Found()).agrees and row.nodes]
        if right:
            left = statistics.median(1 - row.found[tool].nodes / row.nodes for row in right)
            yield f"- {tool}: median reduction {left:.1%} over the {len(right)} on which it agrees"


def _beaten(row: Row, tools: Sequence[str], ours: str) -> str:
    best = row.fewest(rivals(ours, tools))
    beaten = best is not None and row.found[best].nodes < row.found[ours].nodes
    return best if best is not None and beaten else ""


def more_than_others(rows: Sequence[Row], tools: Sequence[str], ours: str) -> Iterator[str]:
    """Where somebody leaves fewer nodes than we do, and which operators are in excess."""
    for row in rows:
        own = row.found.get(ours, Found())
        best = _beaten(row, tools, ours) if own.operators else ""
        if best:
            other = row.found[best]
            yield (
                f"- {row.model}: {own.nodes}, {best} {other.nodes}: "
                f"{excess(own.operators, other.operators)}{_reason(row.model)}"
            )


def _reason(model: str) -> str:
    return next((f"; {why}" for name, why in REASONS.items() if model.startswith(name)), "")


def excess(own: Mapping[str, int], other: Mapping[str, int]) -> str:
    """The operators of which one has more, and those of which the other has."""
    more = (Counter(own) - Counter(other)).most_common(_SHOWN)
    less = (Counter(other) - Counter(own)).most_common(_SHOWN)
    return ", ".join(
        [*(f"{name} +{count}" for name, count in more), *(f"{name} −{n}" for name, n in less)]
    )


def times(rows: Sequence[Row]) -> Iterator[str]:
    """Our CPU time as a share of a peer's, as a geometric mean over what both got through."""
    for tool, most in TIMES.items():
        shares = [
            row.found["passlens"].cpu_s / row.found[tool].cpu_s
            for row in rows
            if row.found.get(tool, Found()).cpu_s and row.found.get("passlens", Found()).cpu_s
        ]
        if shares:
            mean = math.exp(statistics.fmean(map(math.log, shares)))
            met = _met(mean <= most)
            yield f"- {mean:.2f} of {tool}, over {len(shares)} (at most {most:.2f}: {met})"


def _met(met: bool) -> str:
    return "met" if met else "not met"


def problems(rows: Sequence[Row], tools: Sequence[str]) -> Iterator[str]:
    """What went wrong, tool by tool."""
    for tool in tools:
        for row in rows:
            found = row.found.get(tool)
            if found is not None and found.problem:
                yield f"- {tool}, {row.model}: {_PATH.sub('its output', found.problem)}"
