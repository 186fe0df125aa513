"""Sweep: latency and throughput over the batch size, the sequence length or any open size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from optimizer.numbers import digits, mebibytes
from profiling.config.question import explained
from profiling.racing.sweep import Sweep
from studio.page.experiment import offer
from studio.page.figure import Table, show_figure, show_twin
from studio.page.parts import show_message, words
from studio.race.report import how
from studio.race.sweep.figure import latency_lines, throughput_lines
from studio.race.sweep.job import (
    SWEEP_EXPERIMENT,
    SweepReport,
    SweepRequest,
    races_of,
    sweep_finding,
)
from studio.variants.link import MOST_SIZES, RunChoice, SweepChoice, sizes_of
from studio.variants.variant import RunSetup
from studio.workspace import current, remember


def render_sweep(setup: RunSetup, dimensions: tuple[str, ...]) -> None:
    """What to sweep over, then the sweep.

    Args:
        setup: which variants.
        dimensions: names of the sizes that the model leaves open.
    """
    chosen = _choose(dimensions)
    asked = setup.chosen.asked
    each_s = max(1.0, setup.seconds / (len(chosen.sizes) * len(asked)))
    request = SweepRequest(asked, chosen.dimension, chosen.sizes, each_s)
    offer(
        SWEEP_EXPERIMENT,
        setup.subject,
        request,
        name="Sweep",
        explain=lambda: _explain(request),
        show=show_sweep,
        show_recorded=show_sweep,
        show_partial=lambda sweeps: _show_so_far(sweeps, request.sizes),
        show_left=lambda sweeps: _show_so_far(sweeps, request.sizes, over=True),
        blocked=setup.blocked,
    )


def _choose(dimensions: tuple[str, ...]) -> SweepChoice:
    chosen = current().of(RunChoice).sweep or SweepChoice(dimensions[0])
    if chosen.dimension not in dimensions:
        chosen = replace(chosen, dimension=dimensions[0])

    def pick() -> None:
        state = st.session_state
        sizes = sizes_of(state["sweep-sizes"]) or chosen.sizes
        sweep = SweepChoice(state["sweep-dimension"], sizes)
        remember(current().having(replace(current().of(RunChoice), sweep=sweep)))

    st.session_state["sweep-dimension"] = chosen.dimension
    st.session_state["sweep-sizes"] = ", ".join(map(str, chosen.sizes))
    with st.container(horizontal=True, gap="small", key="sweep-choice"):
        st.selectbox("Over", dimensions, key="sweep-dimension", on_change=pick, width=220)
        st.text_input(f"Sizes, at most {MOST_SIZES}", key="sweep-sizes", on_change=pick, width=320)
    return chosen


def _explain(request: SweepRequest) -> None:
    sizes = ", ".join(map(str, request.sizes))
    asked = explained([variant.config for variant in variants] for variants in request.asked)
    st.html(
        f'<div class="empty"><h2>How does it grow?</h2><p>{len(request.asked[0])} variants at '
        f"{escape(request.dimension)} {sizes}, {request.seconds:.3g} s of steady running at each "
        f"size and question, every time in fresh processes.</p><p>{asked}</p>"
        "<p>Here will be latency and throughput over the size, a line a variant.</p></div>"
    )


def show_sweep(report: SweepReport) -> None:
    """Everything, the finding first."""
    sizes = sorted(point.size for point in report.sweeps[0].points)
    _show(report.sweeps, sizes, title=report.title)


def _show_so_far(sweeps: Sequence[Sweep], sizes: Sequence[int], *, over: bool = False) -> None:
    """Sweeps under way, or `over`: what is left of them."""
    question = sweeps[-1].question if len(sweeps) > 1 else None
    where = f" {question}" if question else ""
    text = f"ize {len(sweeps[-1].points)} of {len(sizes)}{where}: {sweep_finding(*sweeps)}"
    _show(sweeps, sizes, title=f"Stopped at s{text}" if over else f"S{text}")


def _show(sweeps: Sequence[Sweep], sizes: Sequence[int], *, title: str) -> None:
    _problems(sweeps)
    show_figure(latency_lines(*sweeps, title=title, sizes=sizes), "sweep-latency")
    races = [race for found in sweeps for race in races_of(found).values()]
    if races:
        st.caption(words(f"Medians; bands: quartiles.{_dotted(sweeps)} {how(races[0])}"))
    show_figure(throughput_lines(*sweeps, sizes=sizes), "sweep-throughput")
    st.caption(f"The size divided by the median latency.{_dotted(sweeps)}")
    show_twin("Sizes as a table", sweep_table(sweeps))


def _dotted(sweeps: Sequence[Sweep]) -> str:
    """Which question is drawn how, where there are two."""
    if len(sweeps) < 2:
        return ""
    return f" Lines: {sweeps[0].question}; dotted: {sweeps[1].question}."


def _problems(sweeps: Sequence[Sweep]) -> None:
    """Sizes at which nothing ran, and a sentence a variant where it first gave no times."""
    told: dict[str, str] = {}
    for found in sweeps:
        for point in found.points:
            if point.error:
                told.setdefault(str(point.size), f"{found.dimension} {point.size}: {point.error}")
        for size, race in sorted(races_of(found).items()):
            for timing in race.timings:
                if not timing.believable:
                    text = f"{timing.label}, {found.dimension} {size}: {race.verdict(timing.label)}"
                    told.setdefault(timing.label, text[:1].upper() + text[1:])
    for number, text in enumerate(told.values()):
        show_message(text, key=f"sweep-problem-{number}")


def sweep_table(sweeps: Sequence[Sweep]) -> Table:
    """A row for each size and variant, and for each question."""
    rows = [
        (size, timing, race)
        for found in sweeps
        for size, race in sorted(races_of(found).items())
        for timing in race.timings
    ]
    summaries = [timing.summary for _, timing, _ in rows]
    asked: Table = {"as": [race.question for *_, race in rows]} if len(sweeps) > 1 else {}
    return {
        sweeps[0].dimension: [size for size, _, _ in rows],
        "variant": [timing.label for _, timing, _ in rows],
        **asked,
        "p50, ms": [digits(s.p50_ms) if s else None for s in summaries],
        "p95, ms": [digits(s.p95_ms) if s else None for s in summaries],
        "items a second": [
            digits(1000 * size / s.p50_ms) if s else None
            for (size, _, _), s in zip(rows, summaries, strict=True)
        ],
        "runs": [len(timing.latencies_ms) for _, timing, _ in rows],
        "peak memory, MiB": [mebibytes(t.peak_bytes) or None for _, t, _ in rows],
        "verdict": [race.verdict(timing.label) for _, timing, race in rows],
    }
