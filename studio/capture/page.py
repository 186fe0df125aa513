"""CUDA Graph: whether the entrants can be captured, and what that saves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from optimizer.isolation import Progress
from profiling.cuda.stages_torch import LISTING
from studio.capture.check import CheckedEntrant, check_entrants
from studio.capture.checklist import show_checks
from studio.capture.job import CAPTURE_EXPERIMENT, CaptureRequest
from studio.capture.report import show_capture
from studio.experiment import Bench
from studio.page.computed import computed
from studio.page.experiment import offer, show_earlier
from studio.services import machine_groups, pool, store
from studio.variants.entrant import Setting


def render_section(setting: Setting) -> None:
    """The section: the checklist at once, the measurement where there is a GPU."""
    if setting.held is not None and not machine_groups()["cuda"].ok:
        setting.held()  # there is no button to say it beside
    key = ("capture-check", setting.model.key, setting.run.key, setting.entrants)
    checks = computed(key, partial(_check, setting), "CUDA Graph")
    if checks is None:
        return
    show_checks(checks)
    _measure(setting)
    _teach()


def _check(
    setting: Setting, *, progress: Progress, cancelled: Callable[[], bool]
) -> tuple[CheckedEntrant, ...]:
    bench = Bench(store(), pool(), setting.subject, progress, cancelled)
    return check_entrants(bench, setting.entrants)


def _measure(setting: Setting) -> None:
    st.html('<h3 class="capture">With and without a captured graph</h3>')
    status = machine_groups()["cuda"]
    if not status.ok:
        st.caption(
            "Stages, latencies and kernel timeline are measured on a machine with an NVIDIA GPU; "
            "a recording made there opens in History."
        )
        with st.container(key="quiet-capture-gpu"):
            st.text(status.reason)
        show_earlier(CAPTURE_EXPERIMENT, setting.model, show_capture)
        return
    labels = [entrant.label for entrant in setting.entrants]
    label = st.selectbox("Variant", labels, index=len(labels) - 1, key="capture-variant", width=320)
    entrant = next(entrant for entrant in setting.entrants if entrant.label == label)
    request = CaptureRequest(entrant, setting.seconds)
    offer(
        CAPTURE_EXPERIMENT,
        setting.subject,
        request,
        name="Capture",
        explain=lambda: _explain(label),
        show=show_capture,
        show_recorded=show_capture,
        held=setting.held,
    )


def _explain(label: str) -> None:
    st.html(
        f'<div class="empty"><p>{escape(label)} on the GPU, launched kernel by kernel and as one '
        "captured graph, each in a process of its own.</p></div>"
    )


def _teach() -> None:
    """What the three stages are, as code."""
    with st.expander("The three stages of a captured graph"):
        st.markdown(
            "**Define**: the stream writes launches down instead of running them. "
            "**Instantiate**: the list becomes something the GPU can start as one. "
            "**Execute**: one launch starts everything, again and again, with the same addresses "
            "and sizes. ONNX Runtime does all three inside its first call; PyTorch lets a program "
            "do them one by one, and this is what is timed where PyTorch has a GPU:"
        )
        st.code(LISTING, language="python")
