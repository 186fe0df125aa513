"""Run: race two steps of a trace against each other, and see why one wins."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import streamlit as st

from profiling.config import RunConfig, options
from profiling.option import ConfigError, Option, Value
from profiling.race import Race, Timing
from studio.figures.latency import PHASES, latency_strips, phase_bars, phase_values
from studio.figures.profiles import memory_lines, operator_bars, operator_times
from studio.opening import model_task, run_task
from studio.pages.parts import PATIENCE_S, follow, show_error, show_message
from studio.racing import RaceReport, RaceRequest, race_key, run_race
from studio.services import machine_groups, pool, store, tasks
from studio.store import OpenedModel, OpenedRun
from studio.tasks import Task
from studio.workspace import current, remember

GROUPS = {"session": "Session", "cpu": "CPU", "cuda": "NVIDIA GPU"}


def render() -> None:
    """The page."""
    workspace = current()
    opening = model_task(workspace)
    if not opening.wait(PATIENCE_S):
        follow(cast("Task[object]", opening), f"Opening {workspace.model}")
        return
    if opening.error is not None or opening.result is None:
        if opening.error is not None:
            show_error(opening.error)
        return
    remember(workspace)
    running = run_task(workspace, opening.result)
    if not running.wait(PATIENCE_S):
        follow(cast("Task[object]", running), "Optimizing")
    elif running.error is not None:
        show_error(running.error)
    elif running.result is not None:
        _page(opening.result, running.result)


def _page(model: OpenedModel, run: OpenedRun) -> None:
    with st.sidebar:
        request = _request(run)
        start = st.button("Run", type="primary", width="stretch", disabled=request is None)
    if not model.summary["statuses"]["runnable"]["ok"]:
        show_message(f"It cannot be run: {model.summary['statuses']['runnable']['reason']}")
        return
    if request is None:
        return
    key = race_key(model, run, request)
    if start:
        tasks().drop(key)
        tasks().start(key, partial(run_race, store(), pool(), (model, run), request))
    task: Task[RaceReport] | None = tasks().get(key)
    if task is None:
        _invite(model, run, request)
    elif not task.wait(PATIENCE_S):
        follow(cast("Task[object]", task), "Running")
    elif task.error is not None:
        show_error(task.error)
    elif task.result is not None:
        _report(task.result)


def _request(run: OpenedRun) -> RaceRequest | None:
    """The two steps and the options, from the sidebar."""
    last = run.result["steps"]
    st.subheader("Race", anchor=False)
    left, right = st.columns(2)
    before = left.number_input("Before: step", 0, last, 0)
    after = right.number_input("After: step", 0, last, last)
    seconds = st.slider("Seconds of steady running", 2, 120, 10)
    config = _config()
    if before == after:
        st.text("Choose two different steps.")
        return None
    if config is None:
        return None
    return RaceRequest((int(before), int(after)), config, runs=100_000, seconds=float(seconds))


def _config() -> RunConfig | None:
    """The run-time options, a form derived from `RunConfig`."""
    st.subheader("Options", anchor=False)
    chosen: dict[str, Value] = {}
    statuses = machine_groups()
    for group, title in GROUPS.items():
        status = statuses[group]
        with st.expander(title, expanded=False):
            if not status.ok:
                st.text(f"Off on this machine: {status.reason}")
            for option in (o for o in options() if o.group == group):
                chosen[option.name] = _field(option, disabled=not status.ok)
    try:
        return RunConfig(**cast("Any", chosen))
    except ConfigError as error:
        show_error(error)
        return None


def _field(option: Option, *, disabled: bool) -> Value:
    label = option.name.replace("_", " ")
    key = f"option-{option.name}"
    if option.type is bool:
        return st.checkbox(label, bool(option.default), help=option.doc, key=key, disabled=disabled)
    if option.choices:
        index = option.choices.index(str(option.default))
        gpu_off = not machine_groups()["cuda"].ok
        choices = [
            c for c in option.choices if not (option.name == "device" and gpu_off and c == "cuda")
        ]
        return st.selectbox(
            label,
            choices,
            min(index, len(choices) - 1),
            help=option.doc,
            key=key,
            disabled=disabled,
        )
    return st.number_input(
        label, option.low, option.high, int(option.default), help=option.doc, key=key,
        disabled=disabled,
    )  # fmt: skip


def _invite(model: OpenedModel, run: OpenedRun, request: RaceRequest) -> None:
    before, after = run.result["nodes"]
    st.subheader("What did it buy?", anchor=False)
    st.text(
        f"{model.summary['name']}: {before} nodes before, {after} after {run.result['steps']} rewrites."
    )
    st.text(
        "Run races the two steps: each in a process of its own, in turns, outputs compared first.\n"
        f"You will get latencies, time by operator and memory over time, in about"
        f" {request.seconds * 1.25 + 10:.0f} s."
    )


def _report(report: RaceReport) -> None:
    race = report.race
    challenger = race.timings[-1]
    verdict = race.verdict(challenger.label)
    for timing in race.timings:
        if not timing.believable:
            show_message(f"{timing.label}: {race.verdict(timing.label)}")
    if any(timing.blocks_ms for timing in race.timings):
        title = f"{challenger.label.capitalize()}: {verdict}"
        _figure(latency_strips(race, title=title), "latency")
        st.caption(_how(report))
        st.dataframe(_percentiles(race), hide_index=True, width="stretch")
    left, right = st.columns(2)
    with left:
        _figure(phase_bars(race), "phases")
        with st.expander("As a table"):
            st.dataframe(_phase_table(race), hide_index=True, width="stretch")
    with right:
        _figure(memory_lines(report.profiles), "memory")
        st.caption(_memory_source(report))
    if report.profiles:
        _figure(operator_bars(report.profiles), "operators")
        st.caption(
            "From the runtime's profiler, five runs, the first left out; writing the profile costs"
            " time, so compare shares here and latencies above."
        )
        with st.expander("As a table"):
            st.dataframe(_operator_table(report), hide_index=True, width="stretch")


def _figure(figure: Any, name: str) -> None:
    image = {"format": "svg", "filename": f"passlens-{name}"}
    st.plotly_chart(
        figure,
        width="stretch",
        key=f"figure-{name}",
        config={"displaylogo": False, "toImageButtonOptions": image},
    )


def _how(report: RaceReport) -> str:
    race, config = report.race, report.request.config
    runs = ", ".join(f"{len(t.latencies_ms)} runs of {t.label}" for t in race.timings)
    changed = ", ".join(f"{k}={v}" for k, v in config.changed().items()) or "default options"
    return (
        f"{race.machine.cpu}, {race.machine.cores} cores, {race.machine.runtime};"
        f" {race.started_at}; {runs}, in turns, each variant in its own process; {changed};"
        f" load {race.machine.load:.1f} before, {race.load_after:.1f} after."
    )


def _percentiles(race: Race) -> dict[str, list[Any]]:
    timed = [(t, t.summary) for t in race.timings if t.summary is not None]
    fields = ("min_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "spread_ms")
    table: dict[str, list[Any]] = {"variant": [t.label for t, _ in timed]}
    for field in fields:
        name = field.removesuffix("_ms")
        table[f"{name}, ms"] = [float(f"{getattr(s, field):.4g}") for _, s in timed]
    table["runs"] = [s.runs for _, s in timed]
    table["peak memory, MB"] = [round(t.peak_bytes / 1e6, 1) for t, _ in timed]
    table["outputs"] = [_outputs(t) for t, _ in timed]
    table["ran on"] = [", ".join(t.providers) for t, _ in timed]
    return table


def _outputs(timing: Timing) -> str:
    if not timing.believable:
        return "differ"
    return "equal" if all(o.same_bits for o in timing.outputs) else "equal within tolerance"


def _phase_table(race: Race) -> dict[str, list[Any]]:
    timed = [t for t in race.timings if t.phases is not None]
    columns = zip(*(phase_values(t) for t in timed), strict=True)
    table: dict[str, list[Any]] = {"variant": [t.label for t in timed]}
    for phase, values in zip(PHASES, columns, strict=True):
        table[f"{phase}, ms"] = [float(f"{value:.4g}") for value in values]
    table["runs until warm"] = [t.phases.warm_after for t in timed if t.phases is not None]
    return table


def _operator_table(report: RaceReport) -> dict[str, list[Any]]:
    times = operator_times(report.profiles)
    table: dict[str, list[Any]] = {"operator": list(times)}
    for index, label in enumerate(report.profiles):
        table[f"{label}, ms"] = [round(row[index] / 1000, 4) for row in times.values()]
    return table


def _memory_source(report: RaceReport) -> str:
    sources = {curve.source for p in report.profiles.values() for curve in p.memory[:1]}
    if sources == {"runtime"}:
        return "As the runtime's allocator reported it, weights left out."
    return "From the sizes of outputs that are still needed; the runtime told nothing."
