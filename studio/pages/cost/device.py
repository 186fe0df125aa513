"""Which device times are predicted for: this CPU once it was calibrated, or a data sheet."""

from __future__ import annotations

from functools import partial

import streamlit as st

from optimizer.cost.device import DeviceProfile
from studio.cost_choice import CostChoice
from studio.pages.cost.choice import put
from studio.pages.launch import launch
from studio.pages.parts import PATIENCE_S, follow, show_error, words
from studio.prediction.devices import THIS, calibrate_here, calibration_key, known_devices
from studio.services import pool, tasks

_KEY = "cost-device"


def choose_device(choice: CostChoice) -> DeviceProfile | None:
    """The widgets; None where this CPU was chosen and is not calibrated yet."""
    found = known_devices()
    st.subheader("Device", anchor=False)
    chosen = _chosen(choice, found)
    st.session_state[_KEY] = chosen
    st.selectbox(
        "Predicted for",
        list(found),
        format_func=lambda identity: _name(identity, found[identity]),
        key=_KEY,
        on_change=partial(put, "device", _KEY),
        label_visibility="collapsed",
    )
    device = found[chosen]
    if device is not None:
        st.caption(words(f"{device.source} {_when(device)}"))
    if chosen == THIS and device is not None:
        _again()
    return device


def _chosen(choice: CostChoice, found: dict[str, DeviceProfile | None]) -> str:
    """What the link says; else this CPU if its numbers are there, else the data sheet of one."""
    if choice.device in found:
        return choice.device
    if found[THIS] is not None:
        return THIS
    sheets = [(name, one) for name, one in found.items() if one is not None]
    return next((name for name, one in sheets if one.threads), sheets[0][0])


def _name(identity: str, device: DeviceProfile | None) -> str:
    if identity == THIS:
        return "This CPU" if device is None else f"This CPU, calibrated {device.date[:10]}"
    return device.name if device is not None else identity


def _when(device: DeviceProfile) -> str:
    date, _, time = device.date.partition("T")
    return f"On {date}, {time[:5]} UTC." if time else f"As of {date}."


def _again() -> None:
    """Calibrating anew, and how far that is."""
    task = tasks().get(calibration_key())
    if task is not None and not task.wait(PATIENCE_S):
        follow(task, "Calibrating")
        return
    if task is not None and task.error is not None:
        show_error(task.error, key="calibration")
    st.button(
        "Calibrate again",
        on_click=_start,
        key="calibrate-again",
        icon=":material/speed:",
        help="Times a few small graphs through ONNX Runtime. Best on an idle machine.",
    )


def _start() -> None:
    tasks().drop(calibration_key())
    tasks().start(calibration_key(), partial(calibrate_here, pool()))


def offer_calibration() -> None:
    """In place of a section, while this CPU is not calibrated."""
    launch(
        calibration_key(),
        partial(calibrate_here, pool()),
        explain=_explain,
        show=lambda _: st.rerun(),
        name="Calibrate",
    )


def _explain() -> None:
    st.html(
        '<div class="empty"><h2>How fast is this CPU?</h2>'
        "<p>A few small graphs run through ONNX Runtime, one thread: products, convolutions,"
        " elementwise operators, copies through each level of cache. It takes seconds, and the"
        " numbers are kept for this machine.</p>"
        "<p>Until then, choose a data sheet on the left.</p></div>"
    )
