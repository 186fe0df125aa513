"""Kernels: which implementation is best for the operators that take the time."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from profiling.kernels.confirmation import AS_IT_IS, BOTH, OPTIONS, Confirmation
from profiling.kernels.decision import choose
from profiling.kernels.hotspots import TOP
from profiling.kernels.selection import LEAST_SECONDS
from studio.kernels.job import (
    APPLY_EXPERIMENT,
    KERNELS_EXPERIMENT,
    ApplyRequest,
    KernelsReport,
    KernelsRequest,
)
from studio.kernels.report import show_confirmation, show_kernels
from studio.page.experiment import offer
from studio.page.parts import file_stem, show_message
from studio.variants.link import MOST_VARIANTS, RunChoice, VariantChoice
from studio.variants.variant import RunSetup, TraceVariant
from studio.workspace import current, remember

_MOST_OPERATORS = 12
_AROUND_A_RACE_S = 15
"""What a race takes beside its steady runs: ten processes, sessions and warm-ups."""


def render_section(setup: RunSetup) -> None:
    """The section."""
    request = _request(setup)
    offer(
        KERNELS_EXPERIMENT,
        setup.subject,
        request,
        name="Race the kernels",
        explain=lambda: _explain(request),
        show=lambda report: _show(report, request, setup),
        show_recorded=show_kernels,
        show_partial=show_kernels,
        blocked=setup.blocked,
    )


def _request(setup: RunSetup) -> KernelsRequest:
    """Which variant, how many operators, whether fewer bits will do."""
    labels = [variant.label for variant in setup.variants]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.selectbox(
            "Variant",
            labels,
            index=len(labels) - 1,
            key="kernels-variant",
            help="Its options are what every candidate is compared with.",
            width=320,
        )
        top = st.number_input(
            "Hot operators",
            1,
            _MOST_OPERATORS,
            TOP,
            key="kernels-top",
            help="How many workloads are raced, the heaviest first.",
            width=140,
        )
        lossy = st.checkbox(
            "fewer bits will do",
            key="kernels-lossy",
            help="Whether int8, 4-bit and 16-bit candidates may be applied to the whole model.",
        )
    variant = next(variant for variant in setup.variants if variant.label == label)
    return KernelsRequest(variant, setup.seconds, int(top), lossy)


def _explain(request: KernelsRequest) -> None:
    steady_s = max(request.seconds, request.top * LEAST_SECONDS)
    duration = 1.25 * steady_s + request.top * _AROUND_A_RACE_S
    st.html(
        '<div class="empty"><h2>Which kernels are best for the hot operators?</h2>'
        "<p>A profile finds the operators that take the time; equal work counts together. Each is "
        "cut out of the model with its real sizes and weights, and its candidates are raced in "
        "turns, outputs compared first: layouts, fusions, threads, other ways to write it, fewer "
        "bits; on an NVIDIA GPU also algorithm search, TF32 and attention kernels.</p>"
        f"<p>{request.top} operators take about {duration:.0f} s. What wins can then be applied to "
        "the whole model, and is raced once more there.</p></div>"
    )


def _show(report: KernelsReport, request: KernelsRequest, setup: RunSetup) -> None:
    show_kernels(report)
    st.subheader("Whole model", anchor=False)
    choice = choose(report.selection, lossy=request.lossy)
    if not choice.anything:
        show_message("Nothing is surely faster, so the model stays as it is.", key="kernels-none")
        return
    offer(
        APPLY_EXPERIMENT,
        setup.subject,
        ApplyRequest(request, report),
        name="Apply to the whole model",
        explain=lambda: None,
        show=lambda applied: show_applied(applied, request.variant, setup),
    )


def show_applied(report: KernelsReport, variant: TraceVariant, setup: RunSetup) -> None:
    """The whole model before and after, and the ways to take it over."""
    confirmation = report.confirmation
    if confirmation is None:
        return
    show_confirmation(confirmation, report.selection)
    with st.container(horizontal=True):
        if confirmation.adopted in (OPTIONS, BOTH):
            st.button(
                "Add these options as a variant",
                on_click=_add_variant,
                args=(confirmation, setup.variants.index(variant)),
                disabled=len(current().of(RunChoice).variants) >= MOST_VARIANTS,
                key="kernels-add",
            )
        file = confirmation.file
        if confirmation.adopted not in (AS_IT_IS, OPTIONS) and file is not None and file.is_file():
            st.download_button(
                "Download the rewritten model",
                data=file.read_bytes,
                file_name=f"{file_stem()}-kernels.onnx",
                key="kernels-file",
            )


def _add_variant(confirmation: Confirmation, index: int) -> None:
    choice = current().of(RunChoice)
    base = choice.variants[index]
    options = {**dict(base.options), **confirmation.choice.options}
    added = VariantChoice(base.graph, tuple(sorted(options.items())))
    remember(current().having(replace(choice, variants=(*choice.variants, added))))
