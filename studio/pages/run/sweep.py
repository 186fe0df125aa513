"""Sweep: latency and throughput over the batch size, the sequence length or any open size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st

from profiling.racing.sweep import Sweep
from studio.experiments.sweep import (
    SweepReport,
    SweepRequest,
    races_of,
    run_sweep,
    sweep_finding,
    sweep_key,
)
from studio.figures.sweep import latency_lines, throughput_lines
from studio.numbers import digits, mebibytes
from studio.pages.figure import Table, show_figure, show_twin
from studio.pages.launch import launch
from studio.pages.parts import show_message, words
from studio.pages.run.beside import beside
from studio.pages.run.race_report import how
from studio.pages.run.setting import Setting
from studio.run_choice import MOST_SIZES, SweepChoice, sizes_of
from studio.services import keeper, pool, store
from studio.workspace import current, remember


def render_sweep(setting: Setting, dimensions: tuple[str, ...]) -> None:
    """What to sweep over, then the sweep.

    Args:
        setting: which variants.
        dimensions: names of the sizes that the model leaves open.
    """
    chosen = _choose(dimensions)
    each_s = max(1.0, setting.seconds / len(chosen.sizes))
    request = SweepRequest(setting.entrants, chosen.dimension, chosen.sizes, each_s)
    subject = (setting.model, setting.run)
    launch(
        sweep_key(*subject, request),
        partial(run_sweep, store(), pool(), subject, request, keep=keeper().keep),
        explain=lambda: _explain(request),
        show=show_sweep,
        beside=lambda report: beside(report.kept),
        name="Sweep",
        show_partial=lambda found: _show_so_far(found, request.sizes),
        held=setting.held,
    )


def _choose(dimensions: tuple[str, ...]) -> SweepChoice:
    chosen = current().choice.sweep or SweepChoice(dimensions[0])
    if chosen.dimension not in dimensions:
        chosen = replace(chosen, dimension=dimensions[0])

    def pick() -> None:
        state = st.session_state
        sizes = sizes_of(state["sweep-sizes"]) or chosen.sizes
        sweep = SweepChoice(state["sweep-dimension"], sizes)
        remember(replace(current(), choice=replace(current().choice, sweep=sweep)))

    st.session_state["sweep-dimension"] = chosen.dimension
    st.session_state["sweep-sizes"] = ", ".join(map(str, chosen.sizes))
    with st.container(horizontal=True, gap="small", key="sweep-choice"):
        st.selectbox("Over", dimensions, key="sweep-dimension", on_change=pick, width=220)
        st.text_input(f"Sizes, at most {MOST_SIZES}", key="sweep-sizes", on_change=pick, width=320)
    return chosen


def _explain(request: SweepRequest) -> None:
    sizes = ", ".join(map(str, request.sizes))
    st.html(
        f'<div class="empty"><h2>How does it grow?</h2><p>{len(request.entrants)} variants at '
        f"{escape(request.dimension)} {sizes}, {request.seconds:.3g} s of steady running at each "
        "size, every time in fresh processes.</p><p>Here will be latency and throughput over the "
        "size, a line a variant.</p></div>"
    )


def show_sweep(report: SweepReport) -> None:
    """Everything, the finding first."""
    sizes = sorted(point.size for point in report.sweep.points)
    _show(report.sweep, sizes, title=sweep_finding(report.sweep))


def _show_so_far(found: Sweep, sizes: Sequence[int]) -> None:
    """A sweep under way, or what is left of one that was cancelled."""
    _show(found, sizes, title=f"Size {len(found.points)} of {len(sizes)}: {sweep_finding(found)}")


def _show(found: Sweep, sizes: Sequence[int], *, title: str) -> None:
    for point in found.points:
        if point.error:
            show_message(f"{found.dimension} {point.size}: {point.error}", key=f"size-{point.size}")
    _broken(found)
    show_figure(latency_lines(found, title=title, sizes=sizes), "sweep-latency")
    races = races_of(found)
    if races:
        st.caption(words(f"Medians; bands: quartiles. {how(next(iter(races.values())))}"))
    show_figure(throughput_lines(found, sizes=sizes), "sweep-throughput")
    st.caption("The size divided by the median latency.")
    show_twin("Sizes as a table", sweep_table(found))


def _broken(found: Sweep) -> None:
    """One sentence a variant, at the first size where it gave no times."""
    told: set[str] = set()
    for size, race in sorted(races_of(found).items()):
        for timing in race.timings:
            if not timing.believable and timing.label not in told:
                told.add(timing.label)
                text = f"{timing.label}, {found.dimension} {size}: {race.verdict(timing.label)}"
                show_message(text[:1].upper() + text[1:], key=f"broken-{len(told)}")


def sweep_table(found: Sweep) -> Table:
    """A row for each size and variant."""
    rows = [
        (size, timing, race)
        for size, race in sorted(races_of(found).items())
        for timing in race.timings
    ]
    summaries = [timing.summary for _, timing, _ in rows]
    return {
        found.dimension: [size for size, _, _ in rows],
        "variant": [timing.label for _, timing, _ in rows],
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
