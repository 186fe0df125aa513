"""Layers: one precision everywhere, and what each value loses by it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from optimizer.numbers import counted
from profiling.precision.plans import Choice
from studio.page.computed import computed_artifact
from studio.page.figure import is_dark, picked_key, picked_row, show_figure
from studio.page.launch import launch
from studio.page.parts import choose_section, show_message, words
from studio.precision.layers.figure import finding, layer_dots, layers_table, weight_bars
from studio.precision.layers.job import LayersRequest, PlanErrors, measure
from studio.precision.layers.kept import KeepListFound, kept_table
from studio.precision.link import NUMBERS
from studio.precision.ranges.inventory import INVENTORY, Inventory
from studio.precision.setting import PrecisionSetting, change, is_quick
from studio.services import store, tasks
from studio.variants.plan import offer_plan, open_plan


def render_layers(setting: PrecisionSetting) -> None:
    """The section."""
    inventory = computed_artifact(INVENTORY, setting.subject, setting.step, "Reading the weights")
    if inventory is None:
        return
    slug = setting.choice.numbers
    choose_section(
        {name: choice.capitalize() for name, choice in NUMBERS.items()},
        slug,
        key="precision-numbers",
        take=lambda chosen: change(numbers=chosen),
        label="Numbers",
    )
    runnable = setting.model.summary.statuses.runnable
    if not inventory.products:
        show_message("There is nothing to quantize: no product has constant weights.", key="none")
    elif not runnable.ok:
        show_message(f"This model cannot be run: {runnable.reason}", key="not-runnable")
    else:
        _measured(setting, inventory, NUMBERS[slug])


def _measured(setting: PrecisionSetting, inventory: Inventory, choice: Choice) -> None:
    request = LayersRequest(setting.observed, setting.held_out, choice == "float16")
    method = setting.choice.method if choice == "static int8" else ""
    key = ("precision-layers", setting.model.key, setting.run.key, choice, method, request)
    work = partial(measure, store(), setting.subject, choice, method, request)
    if is_quick(setting, inventory.size_bytes, inventory.predicted_us):
        tasks().start(key, work)
    launch(
        key,
        work,
        explain=lambda: _explain(inventory),
        show=lambda found: _show(setting, choice, found),
        name="Measure errors",
        again="Measure errors again",
    )


def _explain(inventory: Inventory) -> None:
    show_figure(weight_bars(inventory.products), "precision-heaviest")
    st.caption(
        "Here will be what every value loses: the float source and the model in fewer bits run on"
        " the same inputs, and all values that both have are compared."
    )


def _show(setting: PrecisionSetting, choice: Choice, measured: PlanErrors) -> None:
    if not measured.changed:
        show_message(f"No pass found a place for {choice}; the model stays float.", key="unchanged")
        return
    show_layers(measured, choice, ways=True)
    if measured.kept is not None:
        _show_kept(measured, measured.kept)
    st.caption(words(_how(setting, choice, measured)))


def _show_kept(measured: PlanErrors, kept: KeepListFound) -> None:
    """The keep-list, and the way to a node of it."""
    if kept.nodes:
        title = f"{counted(len(kept.nodes), 'node stays', 'nodes stay')} float32; a row leads to it"
        row = picked_row(title, kept_table(kept), key="kept", expanded=True)
        if row is not None:
            open_plan(measured.pipeline, node=kept.nodes[row].id)
    st.caption(words(f"Keep-list: {kept.told}"))


def show_layers(measured: PlanErrors, name: str, *, ways: bool) -> None:
    """What each value loses, and the way to a value's node.

    Args:
        measured: of a plan.
        name: of the plan, for the title.
        ways: whether a way to the plan's steps is offered, too.
    """
    found = measured.found
    about = counted(found.samples, "generated input" if found.generated else "sample")
    drawn = layer_dots(found, title=finding(name, found), about=about, dark=is_dark())
    node = picked_key(drawn, "precision-layers")
    with st.container(key="ways-layers", horizontal=True, vertical_alignment="center"):
        if ways:
            offer_plan(measured.pipeline, title=name, key="layers")
        if node and st.button("Look at the clicked value's node", key="look-layer"):
            open_plan(measured.pipeline, node=node)
        if found.start is not None:
            st.caption(words(f"The error starts at {found.start.name}."))
    title = "Every value as a table; a row leads to its node"
    row = picked_row(title, layers_table(found), key="layers")
    if row is not None and found.layers[row].node:
        open_plan(measured.pipeline, node=found.layers[row].node)


def _how(setting: PrecisionSetting, choice: Choice, measured: PlanErrors) -> str:
    found = measured.found
    text = (
        f"{counted(len(found.layers), 'value')} of the source are in both models, and drawn where"
        f" they differ; {counted(found.unmatched, 'other')} went into others. Diamonds are outputs,"
        f" triangles lie higher. {counted(measured.changed, 'rewrite')} made this of the float"
        " model; in Rewrite the overlay of errors (key x) shows the same as colours."
    )
    if choice == "float16":
        text += " Computed as a device with 16 bits does: float32 sums, results rounded."
    if found.generated:
        text += " Inputs were generated: errors rank methods, and say nothing about real data."
    elif not setting.held_out:
        text += " There were no more samples than ranges rest on: errors are on the same ones."
    return text
