"""Run: race two steps of a trace against each other, and see why one wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any, cast

import streamlit as st

from profiling.config import RunConfig, options
from profiling.config.option import ConfigError, Group, Option, Value
from studio.experiments.race import RaceReport, RaceRequest, race_key, run_race
from studio.pages.parts import (
    PATIENCE_S,
    follow,
    model_and_run,
    show_error,
    show_message,
    words,
)
from studio.pages.run.race import show_report
from studio.services import machine_groups, pool, store, tasks
from studio.store import OpenedModel, OpenedRun
from studio.tasks import Task
from studio.workspace import MOST_RACE_SECONDS, RaceChoice, current, remember

GROUPS: Mapping[Group, str] = {
    "session": "Session",
    "cpu": "CPU",
    "cuda": "NVIDIA GPU",
    "tensorrt": "TensorRT",
}
MOST_RUNS = 100_000
_AROUND_S = 10
"""What a race takes beside its steady runs: sessions, warm-up, profiles."""


def render() -> None:
    """The page."""
    found = model_and_run()
    if found is not None:
        _page(*found)


def _page(model: OpenedModel, run: OpenedRun) -> None:
    with st.sidebar:
        request = _request(run)
    status = model.summary["statuses"]["runnable"]
    if not status["ok"]:
        show_message(f"This model cannot be run: {status['reason']}", key="not-runnable")
    elif request is None:
        _explain(model, run, None)
    else:
        _race(model, run, request)


def _race(model: OpenedModel, run: OpenedRun, request: RaceRequest) -> None:
    """The race that is asked for: not begun, under way, failed, or done."""
    key = race_key(model, run, request)

    def start() -> None:
        tasks().drop(key)
        tasks().start(key, partial(run_race, store(), pool(), (model, run), request))

    task: Task[RaceReport] | None = tasks().get(key)
    if task is None:
        _explain(model, run, request)
        st.button("Run", type="primary", on_click=start)
    elif not task.wait(PATIENCE_S):
        _explain(model, run, request)
        follow(task, "Running")
    elif task.error is not None:
        show_error(task.error)
        st.button("Run", type="primary", on_click=start)
    elif task.result is not None:
        with st.container(key="report"):
            show_report(task.result)
            _ways_on(start)


def _ways_on(start: Any) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Run again", on_click=start)
        st.segmented_control(
            "Figures download as",
            ["svg", "png"],
            default="svg",
            key="picture-kind",
            label_visibility="collapsed",
            help="What the camera button of a figure saves.",
        )


def _explain(model: OpenedModel, run: OpenedRun, request: RaceRequest | None) -> None:
    """What will be here."""
    before, after = run.result["nodes"]
    rewrites = run.result["steps"]
    name = escape(str(model.summary["name"]))
    duration = ""
    if request is not None:
        duration = f" It takes about {request.seconds * 1.25 + _AROUND_S:.0f} s."
    st.html(
        f'<div class="empty"><h2>What did {rewrites:,} rewrites buy?</h2>'
        f"<p>{name}: {before:,} nodes before, {after:,} after.</p>"
        "<p>A run races the two steps chosen on the left: each in a process of its own, in turns, "
        f"outputs compared first.{duration}</p>"
        "<p>Here will be: which one is faster and how sure that is; percentiles; what loading and "
        "the first run cost; time by operator and by node; memory over one run.</p></div>"
    )


def _request(run: OpenedRun) -> RaceRequest | None:
    """The two steps and the options, from the sidebar; they are in the link, too."""
    last: int = run.result["steps"]
    chosen = current().race
    first, second = chosen.steps or (0, last)
    st.subheader("Race", anchor=False)
    if last == 0:
        show_message("No pass found anything to do; there is nothing to race.", key="race")
        return None
    left, right = st.columns(2, gap="small")
    mark = f"{run.folder.parent.name}-{run.key}"
    steps = (
        int(left.number_input("Before, step", 0, last, min(first, last), key=f"before-{mark}")),
        int(right.number_input("After, step", 0, last, min(second, last), key=f"after-{mark}")),
    )
    seconds = st.slider("Seconds of steady running", 2, MOST_RACE_SECONDS, chosen.seconds)
    config = _config(dict(chosen.options))
    if steps[0] == steps[1]:
        show_message("Both are the same step; choose two.", key="race")
        return None
    if config is None:
        return None
    kept = tuple(sorted(config.changed().items()))
    named = steps if steps != (0, last) else None
    choice = RaceChoice(named, seconds, kept)
    if choice != chosen:
        remember(replace(current(), race=choice))
    return RaceRequest(steps, config, runs=MOST_RUNS, seconds=float(seconds))


def _config(changed: Mapping[str, Value]) -> RunConfig | None:
    """The run-time options, a form derived from `RunConfig`."""
    st.subheader("Options", anchor=False)
    problem = st.container()
    chosen: dict[str, Value] = {}
    for group, title in GROUPS.items():
        status = machine_groups()[group]
        fields = [option for option in options() if option.group == group]
        count = sum(option.name in changed for option in fields)
        with st.expander(f"{title} · {count} changed" if count else title, key=f"group-{group}"):
            for option in fields:
                value = changed.get(option.name, option.default)
                chosen[option.name] = _field(option, value, disabled=not status.ok)
        if not status.ok:
            st.caption(words(f"Off here: {status.reason}"))
    try:
        return RunConfig(**cast("Any", chosen))
    except ConfigError as error:
        with problem:
            show_error(error, key="options")
        return None


def _field(option: Option, value: Value, *, disabled: bool) -> Value:
    label = option.name.replace("_", " ")
    common: dict[str, Any] = {
        "help": option.doc,
        "key": f"option-{option.name}",
        "disabled": disabled,
    }
    if option.type is bool:
        return st.checkbox(label, bool(value), **common)
    if option.choices:
        choices = _choices(option)
        index = choices.index(str(value)) if value in choices else 0
        return st.selectbox(
            label, choices, index, help=option.doc, key=common["key"], disabled=disabled
        )
    if option.type is str:
        return st.text_input(label, str(value), **common).strip()
    return int(st.number_input(label, option.low, option.high, int(value), **common))


def _choices(option: Option) -> list[str]:
    """All of them, but no device that this machine lacks."""
    lacking = {group for group, status in machine_groups().items() if not status.ok}
    return [c for c in option.choices if option.name != "device" or c not in lacking]
