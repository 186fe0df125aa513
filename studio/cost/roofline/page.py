"""Roofline: what bounds every node on a device, and which nodes the predicted time goes to."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from optimizer.cost.device import DeviceProfile
from optimizer.cost.predict import NodePrediction
from optimizer.numbers import FLOP_MEANS, amount_text, counted, digits, three_digits
from studio.artifacts.opened import Subject
from studio.cost.go_to import go_to_node
from studio.cost.link import LAST, CostChoice
from studio.cost.prediction.figure import change_title, slowest
from studio.cost.prediction.groups import NodeGroup, grouped
from studio.cost.prediction.job import PREDICTED_GRAPH, PredictedGraph, device_text
from studio.cost.prediction.lanes_figure import PART_COLORS, spans_us
from studio.cost.roofline.figure import roofline, without_arithmetic
from studio.cost.roofline.measured import render_measured
from studio.page.computed import computed_artifact
from studio.page.figure import Table, is_dark, picked_key, show_twin
from studio.page.parts import show_message, words

_LANES = (
    "Launch, then arithmetic in the upper lane beside reading and writing in the lower one: the"
    " longer lane counts. Nodes of equal work share a row."
)


def render_roofline(subject: Subject, device: DeviceProfile, choice: CostChoice) -> None:
    """The section."""
    last = subject[1].result.steps
    step = last if choice.step == LAST else min(choice.step, last)
    before = _graph(subject, 0, device)
    after = _graph(subject, step, device) if before is not None else None
    if before is None or after is None:
        return
    if not after.nodes:
        show_message("No operator here has a predicted time.", key="nothing-predicted")
        return
    groups = grouped(after)
    _go_to(_plane(device, before, after, groups), before, after, key="roofline")
    bars = slowest(groups, after.total_us, top=choice.top)
    picked = picked_key(bars, f"slowest-{step}")
    st.caption(_LANES)
    _go_to(picked, before, after, key="slowest")
    _table(after)
    render_measured(subject, device, after)


def _go_to(picked: str | None, before: PredictedGraph, after: PredictedGraph, *, key: str) -> None:
    """To the node behind `before:<id>` or `after:<id>`."""
    which, _, identity = (picked or "").partition(":")
    graph = before if which == "before" else after
    node = next((one for one in graph.nodes if one.node == identity), None)
    name = f"{node.op_type} {node.name or identity}" if node is not None else ""
    go_to_node(name, identity, graph.step, key=key)


def _graph(subject: Subject, step: int, device: DeviceProfile) -> PredictedGraph | None:
    request = (step, device_text(device))
    return computed_artifact(PREDICTED_GRAPH, subject, request, "Predicting")


def _plane(
    device: DeviceProfile,
    before: PredictedGraph,
    after: PredictedGraph,
    groups: Sequence[NodeGroup],
) -> str | None:
    """The plot; which dot was clicked."""
    rings = grouped(before) if before.step != after.step else ()
    drawn = roofline(
        device, rings, groups, title=change_title(device, before, after), dark=is_dark()
    )
    node = picked_key(drawn, f"roofline-{after.step}")
    st.caption(words(_how(after, groups)))
    return node


def _how(after: PredictedGraph, groups: Sequence[NodeGroup]) -> str:
    count, us = without_arithmetic(groups)
    parts = [
        "Area is predicted time, nodes of equal work are one dot; a dot under its roof loses time"
        " to launches or to memory. Slopes: what each level of memory feeds; flat lines: the best"
        " rate of a class among these nodes."
        f" How work is counted: {FLOP_MEANS}."
    ]
    if count:
        nodes = counted(count, "node")
        parts.append(f"Not in the picture: {nodes} without arithmetic, {three_digits(us)} µs.")
    if after.unknown:
        parts.append(f"Of unknown size or operator, and in no total: {after.unknown}.")
    if after.assumed:
        sizes = ", ".join(f"{name} = {size}" for name, size in after.assumed[:6])
        parts.append(f"Free dimensions: {sizes}.")
    return " ".join(parts)


def _table(after: PredictedGraph) -> None:
    nodes = sorted(after.nodes, key=lambda node: -node.parts.total_us)
    show_twin("Every node as a table", nodes_table(nodes))


def nodes_table(nodes: Sequence[NodePrediction]) -> Table:
    """A row a node: what it costs, what it takes, what bounds it."""
    table: Table = {
        "node": [node.name or node.node for node in nodes],
        "operator": [node.op_type for node in nodes],
        "class": [node.kind.value for node in nodes],
        "FLOP": [node.cost.flops for node in nodes],
        "bytes read": [node.cost.bytes_read for node in nodes],
        "bytes written": [node.cost.bytes_written for node in nodes],
        "FLOP/B": [digits(node.intensity) for node in nodes],
        "predicted, µs": [digits(node.parts.total_us) for node in nodes],
    }
    for part in PART_COLORS:
        table[f"{part}, µs"] = [digits(spans_us(node.parts)[part][1]) for node in nodes]
    table["bound by"] = [node.parts.limit for node in nodes]
    table["rate of its class"] = [amount_text(node.rate, "FLOP/s") for node in nodes]
    return table
