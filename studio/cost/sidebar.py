"""What is counted on the Cost page, and how it is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from profiling.config import RunConfig
from profiling.config.question import QUESTIONS, config_for, explained
from studio.cost.link import LAST, LEAST_SECONDS, MOST_SECONDS, MOST_TOP, CostChoice
from studio.page.parts import choose_section
from studio.variants.contradictions import ContradictoryQuestion, common_problem, with_mend
from studio.variants.link import RunChoice
from studio.variants.options import common_options
from studio.workspace import current, remember

_LAST_SOUND = "cost-last-sound"
_COUNTS = {
    "bytes": "Bytes",
    "nodes": "Nodes",
    "flops": "FLOP",
    "predicted": "Predicted",
    "latency": "Measured",
}
_ON_PAPER = ("bytes", "nodes", "flops")
_BY = {"pass": "Pass", "rule": "Rule", "step": "Step"}
_CUTS = {"pass": "Pass", "step": "Cut"}
_AS: Mapping[str, str] = {question: question.capitalize() for question in QUESTIONS}
_AS_MEANS = explained([config_for(question, {})] for question in QUESTIONS)
_VARIANTS = {"source": "Source", "last": "Last step", "step": "Step"}


def sidebar(choice: CostChoice) -> tuple[RunConfig, ContradictoryQuestion | None]:
    """The widgets of what is counted or measured: under which options.

    Where these contradict each other: those of before, and the problem.
    """
    waterfall = choice.section == "waterfall"
    if choice.section != "break-even":
        st.subheader("Count", anchor=False)
        counts = {k: v for k, v in _COUNTS.items() if waterfall or k in _ON_PAPER}
        segments("count", counts, choice.count if choice.count in counts else "bytes")
    if waterfall:
        names = _CUTS if choice.count == "latency" else _BY
        by = choice.by if choice.by in names else "step"
        segments("by", names, by, label="One bar a")
    if choice.section == "ablation":
        st.toggle(
            "Race the latencies, too",
            help="All passes against each pipeline that lacks one, those first that miss most.",
            **setting("race", choice.race),
        )
    measuring = (
        choice.count == "latency" if waterfall else choice.section != "ablation" or choice.race
    )
    return _measuring(choice) if measuring else (RunConfig(), None)


def variant(choice: CostChoice, last: int) -> None:
    """Which step of the trace is looked at, and how many of its nodes."""
    st.subheader("Variant", anchor=False)
    step = min(choice.step, last)
    kind = {LAST: "last", last: "last", 0: "source"}.get(step, "step") if last else "source"
    places = {"source": 0, "last": LAST, "step": max(1, last // 2)}
    choose_section(
        _VARIANTS if last > 1 else {name: _VARIANTS[name] for name in ("source", "last")},
        kind,
        key="cost-variant",
        take=lambda chosen: take(step=places[chosen]),
        label="Variant",
    )
    if kind == "step":
        st.slider("Step", 1, last, **setting("step", step))
    st.slider("Slowest nodes drawn", 1, MOST_TOP, **setting("top", choice.top))


def seconds(choice: CostChoice) -> None:
    """How long is measured."""
    told = "Seconds of steady running, all together"
    st.slider(told, LEAST_SECONDS, MOST_SECONDS, **setting("seconds", choice.seconds))


def _measuring(choice: CostChoice) -> tuple[RunConfig, ContradictoryQuestion | None]:
    st.subheader("Measure", anchor=False)
    seconds(choice)
    if choice.section == "break-even":
        st.number_input(
            "Seconds spent on tuning",
            0.0,
            1e9,
            step=10.0,
            help="Time that finding kernels or options took: it has to pay, too.",
            **setting("tune_s", choice.tune_s),
        )
    question = choice.question
    segments("asked", _AS, question, label="Measure as", told=_AS_MEANS)
    common_options()
    chosen = replace(current().of(RunChoice), asked=question)
    problem = common_problem(chosen)
    if problem is None:
        st.session_state[_LAST_SOUND] = (question, chosen.options)
    before, options = st.session_state.get(_LAST_SOUND, (None, ()))
    if before != question:  # a link arrived with a contradiction, or another question brought it
        assert problem is not None
        options = with_mend(chosen, problem, problem.contradiction.mends[0]).options
    return config_for(question, dict(options)), problem


def segments(
    name: str, names: Mapping[str, str], value: str, *, label: str = "", told: str | None = None
) -> None:
    """A choice between few; it is this session's from now on.

    Args:
        name: of the setting.
        names: of its values.
        value: now.
        label: above it; none unless given.
        told: in its tip.
    """
    choose_section(
        names,
        value,
        key=f"cost-{name}",
        take=lambda chosen: take(**{name: chosen}),
        label=label or name.capitalize(),
        is_shown=bool(label),
        told=told,
    )


def setting(name: str, value: object) -> dict[str, Any]:
    """Of a widget: it shows this session's setting, also after another page was open, and sets it.

    Where the widget is emptied, the setting stays.
    """
    key = f"cost-{name}"
    st.session_state[key] = value

    def put() -> None:
        value = st.session_state.get(key)
        if value is not None:
            take(**{name: value})

    return {"key": key, "on_change": put}


def chosen() -> CostChoice:
    """This session's settings."""
    return current().of(CostChoice)


def take(**changes: Any) -> None:
    """Settings from now on."""
    workspace = current()
    remember(workspace.having(replace(workspace.of(CostChoice), **changes)))
