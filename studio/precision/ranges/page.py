"""Ranges: weights at once, activations once they were observed on samples."""

from __future__ import annotations

from functools import partial

import streamlit as st

from optimizer.numbers import counted, digits
from optimizer.precision.threshold import methods
from studio.artifacts.artifact import Artifact
from studio.page.computed import computed_artifact
from studio.page.figure import picked_row, show_figure, show_twin
from studio.page.launch import launch
from studio.page.parts import look_at, show_message, words
from studio.precision.ranges.figure import (
    activation,
    ranges_text,
    sizes,
    values_table,
    weights,
)
from studio.precision.ranges.inventory import INVENTORY, Inventory, WeightedProduct
from studio.precision.ranges.job import RANGES, WEIGHTS, Observations, Observed
from studio.precision.samples import ObserveRequest
from studio.precision.setting import PrecisionSetting, change, is_quick
from studio.services import store, tasks

_MOST_PRODUCTS = 300


def render_ranges(setting: PrecisionSetting) -> None:
    """The section."""
    inventory = computed_artifact(INVENTORY, setting.subject, setting.step, "Reading the weights")
    if inventory is None:
        return
    if not inventory.products:
        show_message(
            "There is nothing to quantize: no convolution or matrix product has constant float32"
            " weights.",
            key="no-products",
        )
    runnable = setting.model.summary.statuses.runnable
    if runnable.ok:
        calibrate(setting, inventory)
    else:
        show_message(f"This model cannot be run: {runnable.reason}", key="not-runnable")
        _weights_alone(setting, inventory)
    if not inventory.stored:
        return
    with st.container(key="body-constants"):
        show_figure(sizes(inventory), "precision-sizes")
        st.caption("Counted from the constants of the float model; nothing was run.")
        show_twin("Constants as a table", _stored_table(inventory))
        show_twin("Convolutions and products as a table", _products_table(inventory))


def calibrate(setting: PrecisionSetting, inventory: Inventory) -> None:
    """The button, its progress, and what was observed; quick models need no button."""
    request, subject = setting.observed, setting.subject
    key = RANGES.key(subject, request)
    work = partial(store().get, RANGES, subject, request)
    quick = is_quick(setting, inventory.size_bytes, inventory.predicted_us)
    if quick or _is_at_hand(RANGES, setting, request):
        tasks().start(key, work)
    launch(
        key,
        work,
        explain=lambda: _weights_alone(setting, inventory),
        show=lambda found: _show(setting, inventory, found),
        name="Calibrate",
        again="Calibrate again",
    )


def _is_at_hand(
    artifact: Artifact[ObserveRequest, Observations],
    setting: PrecisionSetting,
    request: ObserveRequest,
) -> bool:
    return (setting.run.folder / artifact.name(request)).is_dir()


def _weights_alone(setting: PrecisionSetting, inventory: Inventory) -> None:
    """What is true without running anything: the weights of the heaviest product."""
    chosen = setting.choice.value
    product = next((one for one in inventory.products if one.reads == chosen), None)
    product = product or next(iter(inventory.products), None)
    if product is not None:
        _draw_weights(setting, product)
        st.caption(
            "Weights keep their whole range: a scale a channel loses less than one for all."
            " Activations are beside them once the model was run on samples."
        )


def _show(setting: PrecisionSetting, inventory: Inventory, found: Observations) -> None:
    if not found.values:
        show_message("No value of this model holds a finite float.", key="no-values")
        return
    titles = {method.id: method.title for method in methods()}
    st.markdown(f"**{words(ranges_text(found.values, setting.choice.method, titles))}**")
    value, reader = _choose(setting, inventory, found)
    left, right = st.columns(2, gap="medium")
    with left:
        drawn = activation(value, setting.choice.method, titles, source=source_text(found))
        show_figure(drawn, "precision-activation")
    with right:
        if reader is not None:
            _draw_weights(setting, reader)
        else:
            show_message("No convolution or product reads this value.", key="no-reader")
    st.caption(words(_how(setting, found, value)))
    row = picked_row(
        "Every value as a table; a row draws it", values_table(found.values, titles), key="values"
    )
    if row is not None and found.values[row].name != value.name:
        change(value=found.values[row].name)
        st.rerun()


def _choose(
    setting: PrecisionSetting, inventory: Inventory, found: Observations
) -> tuple[Observed, WeightedProduct | None]:
    """The value that is drawn, and the product that reads it."""
    readers = {one.reads: one for one in reversed(inventory.products)}
    by_name = {value.name: value for value in found.values}
    heaviest = [one.reads for one in inventory.products[:_MOST_PRODUCTS] if one.reads in by_name]
    names = list(dict.fromkeys([*heaviest, *by_name]))
    name = setting.choice.value if setting.choice.value in by_name else names[0]
    key = "precision-value"
    st.session_state[key] = name
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Value",
            names,
            format_func=lambda one: _value_text(one, readers),
            key=key,
            on_change=lambda: change(value=st.session_state[key]),
            help="Inputs of products first, of the one with most weights on top.",
        )
        maker = by_name[name].node
        if maker and st.button("Look at its node", key="look-value"):
            look_at(maker.partition("~")[0], None)  # of the source
    return by_name[name], readers.get(name)


def _value_text(name: str, readers: dict[str, WeightedProduct]) -> str:
    reader = readers.get(name)
    return name if reader is None else f"{name} → {reader.op_type} {reader.name}"


def _draw_weights(setting: PrecisionSetting, product: WeightedProduct) -> None:
    request = (setting.step, product.node)
    found = computed_artifact(WEIGHTS, setting.subject, request, "Reading the weights")
    if found is not None:
        show_figure(weights(found, product), "precision-weights")


def source_text(found: Observations) -> str:
    """On what it was observed; nobody mistakes generated inputs for real ones."""
    noun = "generated input" if found.generated else "sample"
    return counted(found.samples, noun)


def _how(setting: PrecisionSetting, found: Observations, value: Observed) -> str:
    text = (
        f"{value.numbers:,} numbers of {source_text(found)}, run in ONNX Runtime on the float"
        " model after the default passes. What lies outside of the range becomes its end; inside,"
        " numbers are rounded to 256 steps. Weights keep their whole range."
    )
    if value.strange:
        text += f" {counted(value.strange, 'number is', 'numbers are')} infinite or NaN."
    if found.generated:
        text += (
            " Inputs were generated: they rank methods, and say nothing about real data; your"
            " own samples go on the left."
        )
    elif setting.choice.samples and setting.samples is None:
        text += " The link's samples are not on this server."
    return text


def _stored_table(inventory: Inventory) -> dict[str, list[object]]:
    return {
        "type": [one.dtype for one in inventory.stored],
        "numbers": [one.numbers for one in inventory.stored],
        "MiB": [digits(one.size_bytes / 2**20) for one in inventory.stored],
    }


def _products_table(inventory: Inventory) -> dict[str, list[object]]:
    return {
        "node": [one.name for one in inventory.products],
        "operator": [one.op_type for one in inventory.products],
        "weights": ["×".join(map(str, one.shape)) for one in inventory.products],
        "channels": [one.shape[one.axis] for one in inventory.products],
        "MiB": [digits(4 * one.numbers / 2**20) for one in inventory.products],
        "reads": [one.reads for one in inventory.products],
    }
