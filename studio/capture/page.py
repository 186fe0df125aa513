"""CUDA Graph: whether the entrants can be captured, and what that saves."""

from __future__ import annotations

from functools import partial
from html import escape

import streamlit as st

from profiling.cuda.stages_torch import LISTING
from studio.capture.check import check_entrants, check_key
from studio.capture.checklist import show_checks
from studio.capture.job import (
    CAPTURE,
    CaptureReport,
    CaptureRequest,
    capture_key,
    finding,
    run_capture,
)
from studio.capture.report import show_capture
from studio.page.launch import launch
from studio.page.parts import PATIENCE_S, follow, show_error, words
from studio.page.recorded import show_earlier
from studio.services import keeper, machine_groups, pool, store, tasks
from studio.variants.setting import Setting

__all__ = ["render_section", "show_capture"]


def render_section(setting: Setting) -> None:
    """The section: the checklist at once, the measurement where there is a GPU."""
    if setting.held is not None and not machine_groups()["cuda"].ok:
        setting.held()  # there is no button to say it beside
    subject = (setting.model, setting.run)
    checking = tasks().start(
        check_key(*subject, setting.entrants),
        partial(check_entrants, store(), pool(), subject, setting.entrants),
    )
    if not checking.wait(PATIENCE_S):
        follow(checking, "CUDA Graph")
        return
    if checking.error is not None:
        show_error(checking.error, key="capture-check")
    elif checking.result is not None:
        show_checks(checking.result)
    _measure(setting)
    _teach()


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
        show_earlier("capture", setting.model, CAPTURE.from_json, _show)
        return
    labels = [entrant.label for entrant in setting.entrants]
    label = st.selectbox("Variant", labels, index=len(labels) - 1, key="capture-variant", width=320)
    entrant = next(entrant for entrant in setting.entrants if entrant.label == label)
    request = CaptureRequest(entrant, setting.seconds)
    subject = (setting.model, setting.run)
    launch(
        capture_key(*subject, request),
        partial(run_capture, store(), pool(), subject, request, keep=keeper().keep),
        explain=lambda: _explain(label),
        show=_show,
        name="Capture",
        held=setting.held,
        earlier=lambda: show_earlier("capture", setting.model, CAPTURE.from_json, _show),
    )


def _explain(label: str) -> None:
    st.html(
        f'<div class="empty"><p>{escape(label)} on the GPU, launched kernel by kernel and as one '
        "captured graph, each in a process of its own.</p></div>"
    )


def _show(report: CaptureReport) -> None:
    st.subheader(words(finding(report)))
    show_capture(report)


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
