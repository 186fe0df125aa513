"""Order: what is alive depends on which node runs when."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from optimizer.memory.order import Order
from optimizer.numbers import bytes_text, digits
from profiling.arena.measurement import ArenaMeasurement
from studio.memory.measured.job import ORDERED, ArenaRun
from studio.memory.measured.page import measure
from studio.memory.orders.figure import measured_orders, order_curves
from studio.memory.orders.job import ALL_ORDERS, Orders
from studio.memory.setting import Maps, Setting
from studio.page.computed import computed_artifact
from studio.page.figure import show_figure, show_twin
from studio.page.parts import file_stem, show_message, words
from studio.services import store


def render_section(setting: Setting, maps: Maps) -> None:
    """The section."""
    del maps  # known to be planable; orders are found in a job of their own
    request = (replace(setting.request, order="file"), float(setting.choice.seconds))
    found = computed_artifact(ALL_ORDERS, setting.subject, request, "Ordering")
    if found is not None and found.worked:
        _show(setting, found)
    elif found is not None:
        show_message(f"No method found an order: {found.found[0].note}", key="no-order")


def _show(setting: Setting, found: Orders) -> None:
    for order in found.found:
        if not order.nodes:
            show_message(f"{order.title}: {order.note}", key=f"failed-{order.method}")
    show_figure(order_curves(found), "orders")
    st.caption(words(_how(found)))
    show_twin("Every order as a table", _table(found))
    best = found.best
    st.subheader("Run in this order", anchor=False)
    with st.container(key="memory-order", horizontal=True, vertical_alignment="center"):
        if best.method != "file":
            st.download_button(
                f"Model in this order: {best.title} (.onnx)",
                data=lambda: _file(setting, best.nodes),
                file_name=f"{file_stem()}-step-{setting.request.step}-{best.method}.onnx",
                on_click="ignore",
            )
        none_better = "No order found needs less than the file's. " if best.method == "file" else ""
        st.caption(
            f"{none_better}ONNX Runtime keeps a file's order only with"
            " `execution_order = PRIORITY_BASED`; its default goes depth first from the outputs."
        )
    _measure(setting, best)


def _how(found: Orders) -> str:
    exact = found.of("exact")
    text = (
        "Activations alive while each node runs, counted from shapes; no order needs less than the"
        " largest single operator."
    )
    if exact is None:
        return text
    sure = "proven" if exact.proven else "not proven within its seconds"
    note = f" {exact.note}" if exact.note else ""
    return f"{text} Exact search: {sure}, {exact.states:,} states.{note}"


def _table(found: Orders) -> dict[str, list[Any]]:
    orders = found.worked
    return {
        "order": [order.title for order in orders],
        "peak, KiB": [digits(order.peak_bytes / 1024) for order in orders],
        "proven": [order.proven for order in orders],
        "states": [order.states for order in orders],
        "seconds": [digits(order.seconds) for order in orders],
        "note": [order.note for order in orders],
    }


def _file(setting: Setting, nodes: tuple[str, ...]) -> bytes:
    return store().get(ORDERED, setting.subject, (setting.request.step, nodes)).read_bytes()


def _measure(setting: Setting, best: Order) -> None:
    request = ArenaRun(setting.request.step, setting.request.sizes, best.method, best.nodes)
    measure(setting, request, explain=partial(_explain, best), show=_show_measured)


def _explain(best: Order) -> None:
    other = "" if best.method == "file" else f", and in the best one found ({best.title.lower()})"
    st.caption(
        "Three runs each with the runtime's profiler on: in the runtime's own order, in the file's"
        f"{other}."
    )


def _show_measured(found: dict[str, ArenaMeasurement]) -> None:
    every = list(found.values())
    show_figure(measured_orders(found, title=_measured_finding(found)), "measured-orders")
    st.caption(
        "ONNX Runtime on the CPU, one thread, none of its own rewrites, its reuse of buffers on;"
        " repacked weights were subtracted. The first run reserves every output by itself; from"
        " the second run on one"
        " block holds all activations."
    )
    show_twin(
        "Measured orders as a table",
        {
            "run": list(found),
            "live in the first run, KiB": [
                digits(m.live_peak_bytes / 1024) for m in found.values()
            ],
            "block of later runs, KiB": [digits(m.block_bytes / 1024) for m in every],
            "held, KiB": [digits(m.held_bytes / 1024) for m in every],
        },
    )


def _measured_finding(found: dict[str, ArenaMeasurement]) -> str:
    names = list(found)
    first, last = found[names[0]], found[names[-1]]
    if not first.block_bytes or not last.block_bytes:
        peaks = (first.live_peak_bytes, last.live_peak_bytes)
        return f"First run: {bytes_text(peaks[0])} → {bytes_text(peaks[1])} alive"
    name = names[0].replace("ONNX Runtime's own", "the runtime's own")
    if first.block_bytes == last.block_bytes:
        return f"{names[-1]} and {name}: the same block, {bytes_text(last.block_bytes)}"
    change = 100 * (last.block_bytes / first.block_bytes - 1)
    sign = "−" if change < 0 else "+"
    blocks = f"{bytes_text(first.block_bytes)} → {bytes_text(last.block_bytes)}"
    return f"{names[-1]} against {name}: block {blocks}, {sign}{abs(change):.3g} %"
