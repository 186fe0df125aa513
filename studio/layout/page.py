"""Layout: which order of axes each node works in on a device, and what a device lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from optimizer.hardware import MissingOperator, profile_of, shipped
from optimizer.layout.targets import TARGETS, target_of
from optimizer.layout_assignment import layout_pipeline
from optimizer.legalisation import legalising
from optimizer.numbers import counted
from optimizer.pipeline import Pipeline
from studio.artifacts.opened import Subject
from studio.layout.figure import (
    assigned_bars,
    assigned_title,
    conversions_table,
    lacking_bars,
    legal_title,
    moved_text,
    unmoved_text,
    waste_bars,
    wastes_table,
)
from studio.layout.job import ASSIGNED, LEGAL, Assigned
from studio.layout.link import TARGET, LayoutChoice
from studio.page.computed import computed_artifact
from studio.page.figure import Table, picked_row, show_figure, show_table, show_twin
from studio.page.parts import model_and_run, show_message, words
from studio.transposes.page import render_transposes
from studio.variants.plan import offer_plan, open_plan
from studio.workspace import current, remember

_MOST_FINDINGS = 5
_FEW = 8


def render() -> None:
    """The page."""
    subject = model_and_run(Pipeline.of("none"))  # layouts are of the source, whatever is on
    if subject is None:
        return
    profiles = {name: profile_of(name).title for name in shipped()}
    chosen = current().of(LayoutChoice).target
    target = chosen if chosen in TARGETS or chosen in profiles else TARGET
    with st.sidebar:
        _choose(target, profiles)
    if target in TARGETS:
        _assigned(subject, target)
    else:
        _legal(subject, target)
    render_transposes(subject)


def _choose(target: str, profiles: Mapping[str, str]) -> None:
    """What layouts are assigned for, or which device's operators the model is written with."""
    layouts = {name: f"{name} · {one.layout}" for name, one in TARGETS.items()}
    _radio("Layouts for", layouts, target, [one.device.name for one in TARGETS.values()])
    if target in TARGETS:
        st.caption(words(TARGETS[target].device.source))
    _radio("Operators of", profiles, target)
    if target in profiles:
        st.caption(words(profile_of(target).source))


def _radio(
    title: str, options: Mapping[str, str], target: str, captions: Sequence[str] | None = None
) -> None:
    """Of all targets one is chosen, in either list."""
    st.subheader(title, anchor=False)
    key = f"layout-{title.lower().replace(' ', '-')}"
    st.session_state[key] = target if target in options else None
    st.radio(
        title,
        list(options),
        index=None,
        format_func=options.__getitem__,
        captions=captions,
        key=key,
        on_change=lambda: _take(st.session_state[key]),
        label_visibility="collapsed",
    )


def _take(target: str) -> None:
    workspace = current()
    remember(workspace.having(replace(workspace.of(LayoutChoice), target=target)))


def _assigned(subject: Subject, target: str) -> None:
    found = computed_artifact(ASSIGNED, subject, target, "Assigning layouts")
    if found is None:
        return
    for number, text in enumerate(found.findings[:_MOST_FINDINGS]):
        show_message(text, key=f"layout-finding-{number}")
    if found.moved:
        _moved(found, target)
    else:
        show_message(unmoved_text(found), key="nothing-moved")
        if found.written_us:
            st.caption(words(_how(found)))
    if found.wastes:
        show_twin("Padding of every tensor as a table", wastes_table(found.wastes))
    if found.unmoved:
        stays: Table = {"why": [*found.unmoved], "nodes": [*found.unmoved.values()]}
        show_twin("What stays as it is, and why", stays, expanded=not found.moved)


def _moved(found: Assigned, target: str) -> None:
    """What is gained, what it costs, and the way to its steps."""
    show_figure(assigned_bars(found, title=assigned_title(found)), "layout-times")
    pipeline = layout_pipeline(target_of(target), found.opset)
    with st.container(key="ways-layout", horizontal=True, vertical_alignment="center"):
        offer_plan(pipeline, title=f"layouts for {target}", key="layout")
        st.caption(words(moved_text(found)))
    st.caption(words(_how(found)))
    if found.conversions:
        title = f"{counted(len(found.conversions), 'conversion')}; a row leads to its step"
        row = picked_row(
            title, conversions_table(found), key="conversions",
            expanded=len(found.conversions) <= _FEW,
        )  # fmt: skip
        if row is not None and found.conversions[row].step:
            open_plan(pipeline, step=found.conversions[row].step)
    if any(one.bytes for one in found.wastes):
        show_figure(waste_bars(found.wastes), "layout-padding")
        st.caption("Channels are filled up to whole blocks; the largest padding first.")


def _how(found: Assigned) -> str:
    source, default, assigned = found.transposes
    return (
        f"Predicted with the data sheet of {found.device}, nothing was run; how near to the"
        f" cheapest the choice is: {found.certificate}. Transposes: {source} in the file,"
        f" {default} after the default passes, {assigned} now. In Rewrite the overlay of layouts"
        " (key l) shows them on nodes and wires."
    )


def _legal(subject: Subject, target: str) -> None:
    found = computed_artifact(LEGAL, subject, target, "Lowering")
    if found is None:
        return
    if not found.lacking:
        show_message(f"{legal_title(found)}; nothing has to be lowered.", key="nothing-lacking")
        return
    show_figure(lacking_bars(found), "layout-lacking")
    with st.container(key="ways-legal", horizontal=True, vertical_alignment="center"):
        offer_plan(legalising(target), title=f"operators of {target}", key="legal")
    st.caption(
        "The passes are those of the preset portable that put nothing together, and the lowerings"
        " of the device; nothing was run. A row of what was lowered leads to its first step."
    )
    if found.remaining:
        show_table(_missing_table(found.remaining, reasons=True))
    lowered: Table = {
        "lowering": [found.titles[one] for one in found.lowered],
        "steps": [*found.lowered.values()],
        "first step": [found.first_steps[one] for one in found.lowered],
    }
    row = picked_row("What was lowered, by pass", lowered, key="lowered")
    if row is not None:
        open_plan(legalising(target), step=int(lowered["first step"][row]))
    show_twin("What the device lacked of the model as it came", _missing_table(found.lacking))


def _missing_table(groups: tuple[MissingOperator, ...], *, reasons: bool = False) -> Table:
    table: Table = {
        "operator": [one.operator for one in groups],
        "nodes": [len(one.nodes) for one in groups],
        "what is missing": [one.lack for one in groups],
        "where": [", ".join(one.places[:3]) for one in groups],
    }
    if reasons:
        table["why it stays"] = [one.why for one in groups]
    return table
