"""CUDA Graph: whether the variants can be captured, and what that saves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from optimizer.isolation import Progress
from profiling.cuda.stages_torch import LISTING
from studio.capture.checklist import show_checks
from studio.capture.job import CAPTURE_EXPERIMENT, CaptureRequest, CheckedVariant, check_variants
from studio.capture.report import show_capture
from studio.experiment import Equipment
from studio.page.computed import computed
from studio.page.experiment import offer, show_earlier
from studio.services import machine_groups, pool, store
from studio.variants.variant import RunSetup


def render_section(setup: RunSetup) -> None:
    """The section: the checklist at once, the measurement where there is a GPU."""
    if setup.blocked is not None and not machine_groups()["cuda"].ok:
        setup.blocked()  # there is no button to say it beside
    key = ("capture-check", setup.model.key, setup.run.key, setup.variants)
    checks = computed(key, partial(_check, setup), "CUDA Graph")
    if checks is None:
        return
    show_checks(checks)
    _measure(setup)
    _teach()


def _check(
    setup: RunSetup, *, progress: Progress, cancelled: Callable[[], bool]
) -> tuple[CheckedVariant, ...]:
    bench = Equipment(store(), pool(), setup.subject, progress, cancelled)
    return check_variants(bench, setup.variants)


def _measure(setup: RunSetup) -> None:
    st.html('<h3 class="capture">With and without a captured graph</h3>')
    status = machine_groups()["cuda"]
    if not status.ok:
        st.caption(
            "Stages, latencies and kernel timeline are measured on a machine with an NVIDIA GPU; "
            "a recording made there opens in History."
        )
        with st.container(key="quiet-capture-gpu"):
            st.text(status.reason)
        show_earlier(CAPTURE_EXPERIMENT, setup.model, show_capture)
        return
    labels = [variant.label for variant in setup.variants]
    label = st.selectbox("Variant", labels, index=len(labels) - 1, key="capture-variant", width=320)
    variant = next(variant for variant in setup.variants if variant.label == label)
    request = CaptureRequest(variant, setup.seconds)
    offer(
        CAPTURE_EXPERIMENT,
        setup.subject,
        request,
        name="Capture",
        explain=lambda: _explain(label),
        show=show_capture,
        show_recorded=show_capture,
        blocked=setup.blocked,
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
