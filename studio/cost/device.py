"""Which device times are predicted for: this CPU, measured on the first visit, or a data sheet."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import streamlit as st

from optimizer.cost.device import DeviceProfile
from optimizer.cost.devices import DEVICES
from profiling.cache.folder import cache_folder
from profiling.calibration import cached, calibrate
from studio.cost.link import CostChoice
from studio.cost.sidebar import setting
from studio.page.parts import PATIENCE_S, follow, show_error, words
from studio.services import pool, tasks

THIS = "this"
"""The machine that the studio runs on."""

_UNDER_WAY = "Measuring this CPU"


def calibrate_once() -> None:
    """Begin to measure this CPU behind the page, unless that was done or begun before."""
    if known_devices()[THIS] is None and tasks().get(calibration_key()) is None:
        _start()


def choose_device(choice: CostChoice) -> DeviceProfile:
    """The widgets; as long as this CPU is not measured, the data sheet of another one for it."""
    found = known_devices()
    st.subheader("Device", anchor=False)
    chosen = choice.device if choice.device in found else THIS
    st.selectbox(
        "Predicted for",
        list(found),
        format_func=lambda identity: _name(identity, found[identity]),
        label_visibility="collapsed",
        **setting("device", chosen),
    )
    device = found[chosen]
    if device is None:
        device = _stand_in(found)
        st.caption(words(f"Until this CPU is measured: {device.title}, which is another machine."))
    else:
        st.caption(words(f"{device.source} {_when(device)}"))
    if chosen == THIS:
        _calibration(known=found[THIS] is not None)
    return device


def say_calibrating() -> None:
    """Progress of a calibration, where no device is chosen; nothing while there is none."""
    task = tasks().get(calibration_key())
    if task is not None and not task.done:
        follow(task, _UNDER_WAY)


def _stand_in(found: dict[str, DeviceProfile | None]) -> DeviceProfile:
    """The data sheet that is most like this machine: a CPU's."""
    sheets = [one for one in found.values() if one is not None]
    return next((one for one in sheets if one.threads), sheets[0])


def _name(identity: str, device: DeviceProfile | None) -> str:
    if identity == THIS:
        return "This CPU" if device is None else f"This CPU, calibrated {device.date[:10]}"
    return device.title if device is not None else identity


def _when(device: DeviceProfile) -> str:
    date, _, time = device.date.partition("T")
    return f"On {date}, {time[:5]} UTC." if time else f"As of {date}."


def _calibration(*, known: bool) -> None:
    """Measuring this CPU, for the first time or anew: how far that is, or a way to begin."""
    task = tasks().get(calibration_key())
    if task is not None and not task.wait(PATIENCE_S):
        follow(task, _UNDER_WAY)
        return
    if task is not None and task.error is not None:
        show_error(task.error, key="calibration")
    st.button(
        "Calibrate again" if known else "Calibrate",
        on_click=_start,
        key="calibrate-again",
        icon=":material/speed:",
        help="Times a few small graphs through ONNX Runtime, one thread, in some ten seconds. Best"
        " on an idle machine.",
    )


def _start() -> None:
    tasks().drop(calibration_key())
    tasks().start(calibration_key(), partial(calibrate, pool(), folder=cache_folder()))


def known_devices() -> dict[str, DeviceProfile | None]:
    """By id, this CPU first; None for it as long as it was not calibrated."""
    sheets: dict[str, DeviceProfile | None] = {device.id: device for device in DEVICES}
    return {THIS: cached(cache_folder()), **sheets}


def calibration_key() -> Hashable:
    """Of the task that measures this CPU and keeps what was found."""
    return ("calibration", THIS)
