"""What a race found: figures, each with its table."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from optimizer.numbers import counted, digits, mebibytes, three_digits
from profiling.config.question import explained
from profiling.racing.race import Race, Timing, remarks_of
from studio.experiment import measured_on
from studio.page.figure import Table, show_figure, show_table, show_twin
from studio.page.parts import show_message, words
from studio.race.finding import finding
from studio.race.job import RaceReport
from studio.race.latency_figure import latency_strips
from studio.race.phases_figure import early_runs, named, phase_bars, warm_up_lines
from studio.race.speedup_figure import speedup_forest


def show_race(report: RaceReport) -> None:
    """Everything, the finding first."""
    show_races(report.races, title=finding(*report.races))


def show_race_so_far(races: Sequence[Race]) -> None:
    """Races under way."""
    rounds = rounds_of(races[-1])
    known = [race for race in races if rounds_of(race) > 1]
    where = f" {races[-1].question}" if len(races) > 1 and races[-1].question else ""
    title = (
        f"So far, after {counted(rounds, 'round')}{where}: {finding(*known)}" if rounds > 1 else ""
    )
    if not title:
        title = f"{finding(*known)}; getting ready{where}" if known else "Getting ready"
    show_races(races, title=title)


def show_race_cut_short(races: Sequence[Race]) -> None:
    """What is left of races that were cancelled or failed."""
    timed = [race for race in races if rounds_of(race)]
    if timed:
        where = f" {timed[-1].question}" if len(races) > 1 and timed[-1].question else ""
        title = f"Stopped after {counted(rounds_of(timed[-1]), 'round')}{where}: {finding(*timed)}"
        show_races(races, title=title, over=True)
        return
    text = "It was stopped before the first round, so there is nothing to compare."
    show_message(text, key="no-rounds")
    _problems(races)
    if _has_phases(races):
        _phases(races)


def rounds_of(race: Race) -> int:
    """How many rounds there have been."""
    return max(len(timing.blocks_ms) for timing in race.timings)


def show_races(races: Sequence[Race], *, title: str, over: bool = False) -> None:
    """The figures of races of the same variants.

    Args:
        races: under way or done, one for each question, deployed first.
        title: says the finding.
        over: nothing more will be measured.
    """
    _problems(races)
    show_figure(latency_strips(*races, title=title, over=over), "latency")
    st.caption(words(f"Boxes: quartiles; whiskers: 5th and 95th percentile. {how(*races)}"))
    compared = [race for race in races if rounds_of(race)]
    if compared and len(races[0].timings) > 1:
        show_figure(speedup_forest(*compared, over=over), "speedup")
        st.caption(_compared(compared))
    show_table(percentiles(races))
    if _has_phases(races):
        _phases(races)


def _compared(races: Sequence[Race]) -> str:
    return (
        f"{explained(race.configs for race in races)} Rounds in which both ran are compared pair "
        "by pair, by their undisturbed runs; estimate of Hodges and Lehmann, interval of "
        "Wilcoxon's signed-rank test. Faster or slower is said of what lies wholly beyond 2 % from "
        "1 with 99 % confidence, probably of what does so with 95 %."
    )


def _problems(races: Sequence[Race]) -> None:
    told = [
        f"{named(timing, race, of=len(races))}: {race.verdict(timing.label)}"
        for race in races
        for timing in race.timings
        if not timing.believable
    ]
    for number, text in enumerate(told):
        show_message(text[:1].upper() + text[1:], key=f"variant-{number}")
    for number, remark in enumerate(remarks_of(races)):
        show_message(remark, key=f"remark-{number}")


def _has_phases(races: Sequence[Race]) -> bool:
    return any(timing.phases is not None for race in races for timing in race.timings)


def _phases(races: Sequence[Race]) -> None:
    show_figure(phase_bars(*races), "phases")
    st.caption(
        "A fresh process each, by its own clock. Warm-up is what ran before the latency settled; "
        "one warm run is the median of the steady state."
    )
    show_twin("Phases as a table", phase_table(races))
    show_cold_note(races[0])
    show_figure(warm_up_lines(*races), "warm-up")
    dotted = f" Dotted: {races[1].question}." if len(races) > 1 else ""
    st.caption(
        "The first run and those of the warm-up. The change point is the split into two levels "
        f"that explains most of the variance of the logarithms.{dotted}"
    )
    show_twin("Early runs as a table", _early_table(races))


def how(*races: Race) -> str:
    """Machine, date, runs and load: what a reader needs to believe the numbers."""
    race, last = races[0], races[-1]
    timings = [timing for one in races for timing in one.timings]
    counts = [len(timing.latencies_ms) for timing in timings if timing.blocks_ms]
    least, most = (min(counts), max(counts)) if counts else (0, 0)
    count = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    runs = f"{count} runs each, in turns" if counts else "no runs yet"
    copies = "" if race.transfers else "; copies from and to the host left out"
    return (
        f"{measured_on(race.machine, race.started_at)}; {runs}, each variant in"
        f" a process of its own{copies}; load {race.machine.load:.1f} before,"
        f" {last.load_after:.1f} after."
    )


def percentiles(races: Sequence[Race]) -> Table:
    """A row a variant and question: verdict, percentiles, memory, what it ran on."""
    rows = [(timing, race) for race in races for timing in race.timings]
    timings = [timing for timing, _ in rows]
    table: Table = {"variant": [timing.label for timing in timings]}
    if len(races) > 1:
        table["as"] = [race.question for _, race in rows]
    table["verdict"] = [race.verdict(timing.label) for timing, race in rows]
    summaries = [timing.summary for timing in timings]
    for field in ("min", "p50", "p90", "p95", "p99", "spread"):
        table[f"{field}, ms"] = [
            digits(getattr(summary, f"{field}_ms")) if summary else None for summary in summaries
        ]
    table["runs"] = [len(timing.latencies_ms) for timing in timings]
    table["peak memory, MiB"] = [mebibytes(t.peak_bytes) or None for t in timings]
    table["outputs"] = [_outputs(timing) for timing in timings]
    table["ran on"] = [
        ", ".join(p.removesuffix("ExecutionProvider") for p in t.providers) for t in timings
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


def phase_table(races: Sequence[Race]) -> Table:
    """Where each variant's wall time went, part by part, and what the parts add up to."""
    rows = _with_phases(races)
    timed = list(rows.values())
    table: Table = {"variant": list(rows)}
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


def _early_table(races: Sequence[Race]) -> Table:
    columns = {
        label: early_runs(timing.phases)
        for label, timing in _with_phases(races).items()
        if timing.phases is not None
    }
    most = max(map(len, columns.values()))
    table: Table = {"run": list(range(1, most + 1))}
    for label, times in columns.items():
        padded = [*map(digits, times), *[None] * (most - len(times))]
        table[f"{label}, ms"] = padded
    return table


def _with_phases(races: Sequence[Race]) -> dict[str, Timing]:
    """By a label of its own, every variant that came to life."""
    return {
        named(timing, race, of=len(races)): timing
        for race in races
        for timing in race.timings
        if timing.phases is not None
    }


_CLEAR = 1.5
"""From this ratio on, a cold start is clearly something else than a warm run."""


def show_cold_note(race: Race) -> None:
    """The note, where a race has a cold start and warm runs to tell of; else nothing."""
    timed = [timing for timing in race.timings if timing.cold_to_warm is not None]
    if timed:
        with st.expander("Why one tool says 0.0025 s and the other 3.5 s"):
            st.markdown(cold_note(timed[0]))


def cold_note(timing: Timing) -> str:
    """The note in Markdown.

    Args:
        timing: with phases and steady runs.
    """
    phases, summary, ratio = timing.phases, timing.summary, timing.cold_to_warm
    if phases is None or summary is None or ratio is None:
        return ""
    ms = three_digits
    shows = (
        "Your own race shows the same."
        if ratio >= _CLEAR
        else "In your own race cold and warm are close: its runs are long beside their start, or "
        "the machine slowed down meanwhile."
    )
    return (
        "“TVM runs ResNet in 0.00249 s, ONNX Runtime with CUDA in 3.488 s” is often repeated. A "
        "compiler does not make a network 1,400 times faster: at batch 1 it is about 8 GFLOP, "
        "milliseconds on a GPU in any runtime. Most likely the two numbers are different phases. "
        "The first looks like the average of warm runs, compiling left out; the second like a "
        "cold start: loading libraries, creating the session, trying every convolution "
        "algorithm, then the first run. Its script was not to be had, so this is an inference "
        "from the numbers.\n\n"
        f"{shows} **{words(timing.label)}** took {ms(phases.import_ms)} ms "
        f"to import the runtime, {ms(phases.create_ms)} ms to create the session and "
        f"{ms(phases.first_ms)} ms for the first run: {ms(phases.cold_ms)} ms cold. Its median "
        f"warm run takes {ms(summary.p50_ms)} ms. Cold against warm is **{ms(ratio)}×**, with the "
        "same model on the same machine. Compare cold with cold, or warm with warm."
    )
