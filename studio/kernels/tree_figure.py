"""How a workload can be run, as a tree: tuning, then the kernel, then the algorithm inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

import plotly.graph_objects as go

from optimizer.numbers import counted, times_text
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
    "halide": "generated, Halide", "c": "generated, C", "off": "the runtime's own"
}  # fmt: skip
_USUAL = "as usual"
_ROW_PX, _MOST_TEXT, _MOST_REASON = 24, 34, 60


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
    named += [f"without {counted(len(left_out), 'fusion')}"] if left_out else []
    return (
        ", ".join(setting_text(*one) for one in tuning.items()) or BASELINE,
        ", ".join(named) or BASELINE,
        ", ".join(setting_text(*one) for one in algorithm.items()) or _USUAL,
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


def selection_tree(raced: WorkloadRace) -> go.Figure:
    """Tuning, kernel and algorithm of every candidate; the way to the winner in colour."""
    root = tree_of(raced)
    figure = go.Figure()
    for depth, one in _choices(root, 0):
        for child in one.inside.values():
            figure.add_trace(_edge(depth, one, child))
    for depth, text in enumerate(LEVELS):
        figure.add_annotation(
            x=depth, y=-0.9, text=f"<b>{text}</b>", showarrow=False, xanchor="left"
        )  # fmt: skip
    for depth, one in _choices(root, 0):
        figure.add_annotation(
            x=depth, y=one.y, text=_told(one), showarrow=False, xanchor="left",
            font={"color": AFTER_COLOR if one.won else BEFORE_COLOR, "size": 12},
        )  # fmt: skip
    leaves = sum(one.row is not None for _, one in _choices(root, 0))
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(candidates_title(raced))),
        height=110 + _ROW_PX * max(2, leaves),
        xaxis={"visible": False, "range": [-0.05, len(LEVELS) + 0.6]},
        yaxis={"visible": False, "range": [leaves - 0.4, -1.3]},
    )
    return figure


def _edge(depth: int, parent: Decided, child: Decided) -> go.Scatter:
    """A bent line from where a choice is made to what was chosen."""
    color = AFTER_COLOR if child.won else BEFORE_COLOR
    return go.Scatter(
        x=[depth + 0.86, depth + 0.93, depth + 0.93, depth + 0.99],
        y=[parent.y, parent.y, child.y, child.y],
        mode="lines", hoverinfo="skip", line={"color": color, "width": 2 if child.won else 1},
    )  # fmt: skip


def _told(one: Decided) -> str:
    """What is chosen; for a candidate also its time, and how it compares."""
    text, row = short(one.text, _MOST_TEXT), one.row
    if row is None:
        return text
    before = "" if one.text == _USUAL else f"{text}: "
    if row.p50_ms is None or row.wrong:
        return before + short(row.verdict, _MOST_REASON)
    against = "the baseline" if row.contrast is None else times_text(row.contrast.speedup)
    return f"{before}{time_text(row.p50_ms)}, {against}"


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
