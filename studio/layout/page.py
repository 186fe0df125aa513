"""Layout: which order of axes each node works in on a device, and what a device lacks."""

from __future__ import annotations

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
    waste_bars,
    wastes_table,
)
from studio.layout.job import ASSIGNED, LEGAL, Assigned
from studio.layout.link import TARGET, LayoutChoice
from studio.page.computed import computed_artifact
from studio.page.figure import Table, picked_row, show_figure, show_table, show_twin
from studio.page.parts import model_and_run, show_message, words
from studio.page.plans import open_plan
from studio.workspace import current, remember

_KEY = "layout-target"
_MOST_FINDINGS = 5


def render() -> None:
    """The page."""
    subject = model_and_run(Pipeline.of("none"))  # layouts are of the source, whatever is on
    if subject is None:
        return
    layouts = {name: f"{name} · {target.layout}" for name, target in TARGETS.items()}
    profiles = {name: profile_of(name).title for name in shipped()}
    chosen = current().of(LayoutChoice).target
    target = chosen if chosen in {**layouts, **profiles} else TARGET
    with st.sidebar:
        _choose(target, layouts, profiles)
    if target in layouts:
        _assigned(subject, target)
    else:
        _legal(subject, target)


def _choose(target: str, layouts: dict[str, str], profiles: dict[str, str]) -> None:
    """What layouts are assigned for, or which device's operators the model is written with."""
    st.subheader("Target", anchor=False)
    st.session_state[_KEY] = target
    st.radio(
        "Target",
        [*layouts, *profiles],
        format_func={**layouts, **profiles}.__getitem__,
        captions=[*("layouts assigned" for _ in layouts), *("operators lowered" for _ in profiles)],
        key=_KEY,
        on_change=lambda: _take(st.session_state[_KEY]),
        label_visibility="collapsed",
    )
    source = target_of(target).device.source if target in layouts else profile_of(target).source
    st.caption(words(source))


def _take(target: str) -> None:
    workspace = current()
    remember(workspace.having(replace(workspace.of(LayoutChoice), target=target)))


def _assigned(subject: Subject, target: str) -> None:
    found = computed_artifact(ASSIGNED, subject, target, "Assigning layouts")
    if found is None:
        return
    for number, text in enumerate(found.findings[:_MOST_FINDINGS]):
        show_message(text, key=f"layout-finding-{number}")
    show_figure(assigned_bars(found, title=assigned_title(found, target)), "layout-times")
    pipeline = layout_pipeline(target_of(target), found.opset)
    with st.container(key="ways-layout", horizontal=True, vertical_alignment="center"):
        if st.button("Open in Rewrite", icon=":material/account_tree:", key="open-layout"):
            open_plan(pipeline)
    st.caption(words(_how(found)))
    if found.conversions:
        title = f"{counted(len(found.conversions), 'conversion')} as a table"
        row = picked_row(title, conversions_table(found), key="conversions")
        if row is not None and found.conversions[row].step:
            open_plan(pipeline, step=found.conversions[row].step)
    if any(one.bytes for one in found.wastes):
        show_figure(waste_bars(found.wastes), "layout-padding")
        st.caption("Channels are filled up to whole blocks; the largest padding first.")
    if found.wastes:
        show_twin("Padding of every tensor as a table", wastes_table(found.wastes))
    if found.unmoved:
        stays: Table = {"nodes": [*found.unmoved.values()], "why": [*found.unmoved]}
        show_twin("What stays as it is, and why", stays)


def _how(found: Assigned) -> str:
    source, default, assigned = found.transposes
    return (
        f"Predicted with the data sheet of {found.device}, nothing was run; how near to the"
        f" cheapest the choice is: {found.certificate}. Transposes: {source} in the file,"
        f" {default} after the default passes, {assigned} now. A row of the"
        " conversions' table leads to its step."
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
        if st.button("Open in Rewrite", icon=":material/account_tree:", key="open-legal"):
            open_plan(legalising(target))
    before, after = found.nodes
    st.caption(
        words(
            f"{counted(before, 'node')} became {after}. The passes are those of the default preset"
            " that put nothing together, and the lowerings of the device; nothing was run."
        )
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
