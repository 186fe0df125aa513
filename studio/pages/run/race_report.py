"""What a race found: figures, each with its table."""

from __future__ import annotations

import streamlit as st

from profiling.racing.race import Race, Timing
from studio.experiments.race import RaceReport, finding
from studio.figures.latency import latency_strips, speedup_forest
from studio.figures.phases import early_runs, phase_bars, warm_up_lines
from studio.numbers import counted, digits, mebibytes, three_digits
from studio.pages.figure import Table, show_figure, show_table, show_twin
from studio.pages.parts import show_message, words
from studio.pages.run.cold_note import show_cold_note


def show_race(report: RaceReport) -> None:
    """Everything, the finding first."""
    show_whole_race(report.race, title=finding(report.race))


def show_race_so_far(race: Race) -> None:
    """A race under way, or what is left of one that was cancelled."""
    rounds = max(len(timing.blocks_ms) for timing in race.timings)
    title = (
        f"So far, after {counted(rounds, 'round')}: {finding(race)}"
        if rounds > 1
        else "Getting ready"
    )
    show_whole_race(race, title=title)


def show_whole_race(race: Race, *, title: str) -> None:
    """The figures of a race.

    Args:
        race: under way or done.
        title: says the finding.
    """
    _problems(race)
    show_figure(latency_strips(race, title=title), "latency")
    st.caption(words(f"Boxes: quartiles; whiskers: 5th and 95th percentile. {how(race)}"))
    if len(race.timings) > 1:
        show_figure(speedup_forest(race), "speedup")
        st.caption(
            "Rounds in which both ran are compared pair by pair, by their undisturbed runs; "
            "estimate of Hodges and Lehmann, interval of Wilcoxon's signed-rank test. Clear "
            "is only what lies wholly beyond 2 % from 1, with 99 % confidence."
        )
    show_table(percentiles(race))
    if any(timing.phases is not None for timing in race.timings):
        _phases(race)


def _problems(race: Race) -> None:
    for number, timing in enumerate(race.timings):
        if not timing.believable:
            label = timing.label[:1].upper() + timing.label[1:]
            show_message(f"{label}: {race.verdict(timing.label)}", key=f"variant-{number}")
    for number, remark in enumerate(race.remarks):
        show_message(remark, key=f"remark-{number}")


def _phases(race: Race) -> None:
    show_figure(phase_bars(race), "phases")
    st.caption(
        "A fresh process each, by its own clock. Warm-up is what ran before the latency settled; "
        "one warm run is the median of the steady state."
    )
    show_twin("Phases as a table", phase_table(race))
    show_cold_note(race)
    show_figure(warm_up_lines(race), "warm-up")
    st.caption(
        "The first run and those of the warm-up. The change point is the split into two levels "
        "that explains most of the variance of the logarithms."
    )
    show_twin("Early runs as a table", _early_table(race))


def how(race: Race) -> str:
    """Machine, date, runs and load: what a reader needs to believe the numbers."""
    machine = ", ".join(filter(None, (race.machine.cpu, race.machine.gpu, race.machine.runtime)))
    started = race.started_at.replace("T", " ").partition("+")[0]
    counts = [len(timing.latencies_ms) for timing in race.timings if timing.blocks_ms]
    least, most = (min(counts), max(counts)) if counts else (0, 0)
    count = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    runs = f"{count} runs each, in turns" if counts else "no runs yet"
    copies = "" if race.transfers else "; copies from and to the host left out"
    return (
        f"{machine}, {counted(race.machine.cores, 'core')}; {started} UTC; {runs}, each variant in"
        f" a process of its own{copies}; load {race.machine.load:.1f} before,"
        f" {race.load_after:.1f} after."
    )


def percentiles(race: Race) -> Table:
    """A row a variant: verdict, percentiles, memory, what it ran on."""
    table: Table = {
        "variant": [timing.label for timing in race.timings],
        "verdict": [race.verdict(timing.label) for timing in race.timings],
    }
    for field in ("min", "p50", "p90", "p95", "p99", "spread"):
        table[f"{field}, ms"] = [
            digits(getattr(t.summary, f"{field}_ms")) if t.summary else None for t in race.timings
        ]
    table["runs"] = [len(timing.latencies_ms) for timing in race.timings]
    table["peak memory, MiB"] = [mebibytes(t.peak_bytes) or None for t in race.timings]
    table["outputs"] = [_outputs(timing) for timing in race.timings]
    table["ran on"] = [
        ", ".join(p.removesuffix("ExecutionProvider") for p in t.providers) for t in race.timings
    ]
    return table


def _outputs(timing: Timing) -> str:
    if not timing.outputs:
        return "not compared"
    if not all(output.ok for output in timing.outputs):
        return "differ"
    if all(output.same_bits for output in timing.outputs):
        return "equal"
    return "equal within tolerance"


def phase_table(race: Race) -> Table:
    """Where each variant's wall time went, part by part, and what the parts add up to."""
    timed = [timing for timing in race.timings if timing.phases is not None]
    table: Table = {"variant": [timing.label for timing in timed]}
    for part in timed[0].parts_ms:
        table[f"{part}, ms"] = [digits(timing.parts_ms[part]) for timing in timed]
    walls = [(t.phases.wall_ms if t.phases else 0.0, sum(t.parts_ms.values())) for t in timed]
    table["wall, ms"] = [digits(wall) for wall, _ in walls]
    table["accounted for"] = [f"{100 * p / w:.1f} %" if w else "" for w, p in walls]
    table["runs until warm"] = [1 + t.phases.warm_after for t in timed if t.phases]
    table["cold / warm"] = [
        f"{three_digits(t.cold_to_warm)}×" if t.cold_to_warm else "" for t in timed
    ]
    return table


def _early_table(race: Race) -> Table:
    columns = {t.label: early_runs(t.phases) for t in race.timings if t.phases is not None}
    most = max(map(len, columns.values()))
    table: Table = {"run": list(range(1, most + 1))}
    for label, times in columns.items():
        padded = [*map(digits, times), *[None] * (most - len(times))]
        table[f"{label}, ms"] = padded
    return table
