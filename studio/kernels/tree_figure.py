"""How a workload can be run, as a tree: tuning, then the kernel, then the algorithm inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import plotly.graph_objects as go

from optimizer.numbers import counted, times_text
from profiling.config.advice import SLOW_FUSIONS
from profiling.config.option import items, setting_text
from profiling.kernels.candidates import BASELINE, Candidate
from profiling.kernels.reformulations import BY_ID
from profiling.kernels.selection import CandidateRow, WorkloadRace
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, short, titled
from studio.kernels.figure import candidates_title, time_text

LEVELS = ("workload", "tuning", "kernel", "algorithm")
"""What is decided at each depth: how the runtime runs it, which implementation, how that works."""

_ALGORITHM = frozenset(
    {"convolution_search", "convolution_workspace", "attention_kernel", "tunable_kernels",
     "tune_kernels", "gemm_auto_tune", "tf32"}
)  # fmt: skip
_KERNEL = frozenset(
    {"generated_kernels", "graph_optimization", "optimizers_off", "prefer_nhwc",
     "fuse_convolution_bias", "lut_gemm"}
)  # fmt: skip
_CODE: Mapping[str, str] = {
    "halide": "generated, Halide", "c": "generated, C", "tvm": "generated, TVM",
    "off": "the runtime's own",
}  # fmt: skip
_USUAL = "as usual"
_LOOPS: Mapping[str, str] = {"halide": "default schedule", "c": "plain loops"}
"""How generated code works inside, where nothing else is said of it."""
_ROW_PX, _MOST_REASON = 24, 60
_MOST_TEXT = (30, 30, 44, 34)
"""Letters of a text, level by level."""
_GAP, _LETTER = 5, 0.86
"""Between columns, in letters, and how wide one is beside the widest."""


@dataclass(slots=True)
class Decided:
    """A place in the tree.

    Attributes:
        text: what is chosen here.
        row: of the candidate that ends here; None between.
        inside: what can be chosen next.
        y: its place from the top, in rows.
        won: whether the way to the winner goes through it.
    """

    text: str
    row: CandidateRow | None = None
    inside: dict[str, Decided] = field(default_factory=dict[str, "Decided"])
    y: float = 0.0
    won: bool = False


def path_of(candidate: Candidate) -> tuple[str, str, str]:
    """What a candidate is in tuning, kernel and algorithm."""
    changes = candidate.changes
    kernel = {name: value for name, value in changes.items() if name in _KERNEL}
    algorithm = {name: value for name, value in changes.items() if name in _ALGORITHM}
    tuning = {n: v for n, v in changes.items() if n not in kernel and n not in algorithm}
    made = kernel.pop("generated_kernels", None)
    named = [_CODE[str(made)]] if made is not None else []
    named += [BY_ID[candidate.reformulation].label] if candidate.reformulation else []
    if made is None:
        named += [setting_text(*one) for one in kernel.items() if one[0] != "optimizers_off"]
    left_out = items(str(kernel.get("optimizers_off", "")))
    slow = {*left_out} == {*SLOW_FUSIONS}
    told = "its slow fusions" if slow else counted(len(left_out), "fusion")
    named += [f"without {told}"] if left_out else []
    return (
        ", ".join(setting_text(*one) for one in tuning.items()) or BASELINE,
        ", ".join(named) or BASELINE,
        ", ".join(setting_text(*one) for one in algorithm.items()) or _LOOPS.get(str(made), _USUAL),
    )


def tree_of(raced: WorkloadRace) -> Decided:
    """All candidates of a workload that were tried here, by what they decide."""
    root, winner = Decided(raced.operator.workload.title, won=True), raced.winner().candidate
    for row in raced.rows():
        if row.candidate.target != raced.candidates[0].target:
            continue
        at = root
        for text in path_of(row.candidate):
            at = at.inside.setdefault(text, Decided(text))
            at.won |= row.candidate == winner
        at.row = row
    _place(root, 0.0)
    return root


def selection_tree(raced: WorkloadRace, *, copies: int = 1) -> go.Figure:
    """Tuning, kernel and algorithm of every candidate; the way to the winner in colour.

    Args:
        raced: the candidates, and their race.
        copies: of the workload in each run: times are told of one.
    """
    root = tree_of(raced)
    columns = _columns(root)
    edges = [
        _edge(columns[depth + 1], _end(columns, depth, one), one, child)
        for depth, one in _choices(root, 0)
        for child in one.inside.values()
    ]
    heads: list[dict[str, Any]] = [
        {"x": x, "y": -0.9, "text": f"<b>{text}</b>"}
        for x, text in zip(columns, LEVELS, strict=True)
    ]
    texts: list[dict[str, Any]] = [
        {
            "x": columns[depth],
            "y": one.y,
            "text": _told(one, depth, copies),
            "font": {"color": AFTER_COLOR if one.won else BEFORE_COLOR, "size": 12},
        }
        for depth, one in _choices(root, 0)
    ]
    figure = go.Figure(edges)
    leaves = sum(one.row is not None for _, one in _choices(root, 0))
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(_taken(raced))),
        height=110 + _ROW_PX * max(2, leaves),
        xaxis={"visible": False, "range": [-1, columns[-1] + _MOST_REASON]},
        yaxis={"visible": False, "range": [leaves - 0.4, -1.3]},
        # All at once: Plotly goes through all that are there for each one that is added.
        annotations=[{"showarrow": False, "xanchor": "left", **one} for one in heads + texts],
    )
    return figure


def _taken(raced: WorkloadRace) -> str:
    """The way to the winner."""
    if raced.race is None:
        return candidates_title(raced)
    return f"Taken: {' → '.join(path_of(raced.winner().candidate))}"


def _columns(root: Decided) -> list[float]:
    """Where each level begins, in letters: behind the longest text of the one before."""
    longest = [0] * (len(LEVELS) - 1)
    for depth, one in _choices(root, 0):
        if depth < len(longest):
            longest[depth] = max(longest[depth], min(_MOST_TEXT[depth], len(one.text)))
    begins = [0.0]
    for letters in longest:
        begins.append(begins[-1] + _LETTER * letters + _GAP)
    return begins


def _end(columns: Sequence[float], depth: int, one: Decided) -> float:
    """Where its text ends."""
    return columns[depth] + _LETTER * min(_MOST_TEXT[depth], len(one.text)) + 1


def _edge(end: float, begin: float, parent: Decided, child: Decided) -> go.Scatter:
    """A bent line from where a choice is made to what was chosen."""
    color = AFTER_COLOR if child.won else BEFORE_COLOR
    bend = end - _GAP / 2
    return go.Scatter(
        x=[begin, bend, bend, end - 0.5],
        y=[parent.y, parent.y, child.y, child.y],
        mode="lines", hoverinfo="skip", line={"color": color, "width": 2 if child.won else 1},
    )  # fmt: skip


def _told(one: Decided, depth: int, copies: int) -> str:
    """What is chosen; for a candidate also its time, and how it compares."""
    text, row = short(one.text, _MOST_TEXT[depth]), one.row
    if row is None:
        return text
    before = "" if one.text == _USUAL else f"{text}: "
    if row.p50_ms is None or row.wrong:
        return before + short(row.verdict, _MOST_REASON)
    against = "the baseline" if row.contrast is None else times_text(row.contrast.speedup)
    taken = ", taken" if one.won else ""
    return f"{before}{time_text(row.p50_ms / copies)}, {against}{taken}"


def _place(one: Decided, top: float) -> float:
    """Put leaves into rows, and what leads to them into their middle; the next free row."""
    if not one.inside:
        one.y = top
        return top + 1
    for child in one.inside.values():
        top = _place(child, top)
    children = [*one.inside.values()]
    one.y = (children[0].y + children[-1].y) / 2
    return top


def _choices(one: Decided, depth: int) -> Iterator[tuple[int, Decided]]:
    yield depth, one
    for child in one.inside.values():
        yield from _choices(child, depth + 1)
