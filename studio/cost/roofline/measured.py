"""Predicted times beside measured ones, where this step was profiled; else a way to profile it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from optimizer.cost.device import DeviceProfile
from optimizer.numbers import digits
from profiling.calibration import CALIBRATED
from studio.artifacts.opened import Subject
from studio.cost.device import THIS, known_devices
from studio.cost.go_to import go_to_node
from studio.cost.prediction.accuracy import Accuracy, compared
from studio.cost.prediction.figure import predicted_against_measured
from studio.cost.prediction.job import PredictedGraph
from studio.cost.sidebar import take
from studio.page.experiment import offer
from studio.page.figure import Table, is_dark, picked_key, show_twin
from studio.page.parts import show_message, words
from studio.timeline.job import PROFILE_EXPERIMENT, ProfileRequest
from studio.timeline.node_times import StepTimes, measured_times
from studio.timeline.page import how, show_failures
from studio.timeline.result import ProfileReport
from studio.variants.variant import TraceVariant


def render_measured(subject: Subject, device: DeviceProfile, after: PredictedGraph) -> None:
    """The figure, under what makes it."""
    if not device.measured:
        _choose_this_cpu()
        return
    runnable = subject[0].summary.statuses.runnable
    if not runnable.ok:
        show_message(f"This model cannot be run: {runnable.reason}", key="not-runnable")
        return
    request = ProfileRequest((TraceVariant(f"step {after.step}", after.step, CALIBRATED),))
    offer(
        PROFILE_EXPERIMENT,
        subject,
        request,
        name="Profile this step",
        explain=lambda: _before(subject, device, after),
        show=lambda report: _profiled(subject, device, after, report),
    )


def _choose_this_cpu() -> None:
    st.html(
        '<div class="empty"><h2>Does the prediction hold?</h2>'
        "<p>What is measured here is compared with what is predicted for this CPU and with no other"
        " machine: here will be predicted against measured, node by node.</p></div>"
    )
    if known_devices()[THIS] is None:
        st.caption("As soon as this CPU is measured itself; how far that is stands on the left.")
        return
    st.button("Predict for this CPU", on_click=partial(take, device=THIS), key="choose-this-cpu")


def _before(subject: Subject, device: DeviceProfile, after: PredictedGraph) -> None:
    """What an earlier profile says, if there is one."""
    if not _show(subject, device, after, ""):
        st.caption("Not profiled yet: here will be predicted against measured, node by node.")


def _profiled(
    subject: Subject, device: DeviceProfile, after: PredictedGraph, report: ProfileReport
) -> None:
    show_failures(report)
    if report.profiles:
        _show(subject, device, after, how(report))


def _show(subject: Subject, device: DeviceProfile, after: PredictedGraph, made: str) -> bool:
    measured = measured_times(subject[1], after.step)
    found = compared(after, measured) if measured is not None else None
    if measured is None or found is None or not found.pairs:
        return False
    picked = picked_key(predicted_against_measured(found, dark=is_dark()), f"beside-{after.step}")
    what = made or f"The newest profile of this step on the Run page, {found.label}."
    st.caption(
        words(
            f"On the dotted line, prediction and measurement agree. {what} Predicted for"
            f" {device.name}, threads: {device.threads}; both without the time of the profiler"
            f" itself{_profiler(measured)}. {_left_out(found)}"
        )
    )
    names = {f"after:{pair.node}": pair for pair in found.pairs}
    pair = names.get(picked or "")
    name = f"{pair.op_type} {pair.name}" if pair is not None else ""
    go_to_node(name, pair.node if pair is not None else "", after.step, key="beside")
    show_twin("Every operator as a table", _table(found))
    return True


def _profiler(measured: StepTimes) -> str:
    if measured.profiler_us is None:
        return ", which this older profile does not tell: its times contain it"
    return f" (−{measured.profiler_us:.2g} µs a node)"


def _left_out(found: Accuracy) -> str:
    told: list[str] = []
    if found.left_out_us:
        told.append(f"{found.left_out_us:.3g} µs ran in operators without a prediction.")
    if found.too_short:
        told.append(f"Too short to be measured, and not here: {found.too_short} operators.")
    return " ".join(told) or "Every operator that ran is here."


def _table(found: Accuracy) -> Table:
    pairs = sorted(found.pairs, key=lambda pair: -pair.measured_us)
    return {
        "node": [pair.name or pair.node for pair in pairs],
        "operator": [pair.op_type for pair in pairs],
        "predicted, µs": [digits(pair.predicted_us) for pair in pairs],
        "measured, µs": [digits(pair.measured_us) for pair in pairs],
        "predicted / measured": [digits(pair.predicted_us / pair.measured_us) for pair in pairs],
    }
