"""Transposes: which the model has, the loops of each, and how fast they are beside a copy."""

from __future__ import annotations

import streamlit as st

from optimizer.numbers import counted
from studio.artifacts.opened import Subject
from studio.experiment import measured_on
from studio.page.computed import computed_artifact
from studio.page.experiment import offer
from studio.page.figure import picked_row, show_figure, show_twin
from studio.page.parts import look_at, show_message, words
from studio.transposes.figure import rate_dots, times_table, transposes_table
from studio.transposes.job import (
    MOST_MEASURED,
    TRANSPOSES,
    TRANSPOSES_EXPERIMENT,
    FoundTransposes,
    TransposesReport,
)
from studio.transposes.nest_figure import nest_figure


def render_transposes(subject: Subject) -> None:
    """The section, of the source."""
    st.subheader("Transposes", anchor=False)
    found = computed_artifact(TRANSPOSES, subject, 0, "Looking for Transposes")
    if found is None:
        return
    if not found.placed:
        show_message("No Transpose of this model moves anything.", key="no-transposes")
        return
    _loops(found)
    offer(
        TRANSPOSES_EXPERIMENT,
        subject,
        found.tensors,
        name="Measure Transposes",
        explain=lambda: _explain(found),
        show=show_transposes,
        show_recorded=show_transposes,
        show_partial=show_transposes,
    )


def _loops(found: FoundTransposes) -> None:
    """The loops of the largest, or of the row that is chosen."""
    picture = st.container()
    fewer = sum(len(one.tensor.reduced().perm) < len(one.tensor.perm) for one in found.placed)
    title = (
        f"{counted(len(found.placed), 'Transpose')}, {fewer} of them over more axes than needed;"
        " a row shows its loops"
    )
    row = picked_row(title, transposes_table(found.placed), key="transposes", expanded=True)
    chosen = found.placed[row if row is not None and row < len(found.placed) else 0]
    with picture:
        show_figure(nest_figure(chosen.tensor), "transpose-nest")
        with st.container(key="ways-transposes", horizontal=True, vertical_alignment="center"):
            if st.button("Look at the node", key="look-transpose"):
                look_at(chosen.node, None)
            which = "The largest" if row is None else "The chosen one"
            st.caption(words(f"{which}: {chosen.name}. Strides are in elements."))
    st.caption(
        "Transposes of constants, of unknown sizes, and those that move nothing are left out."
    )


def _explain(found: FoundTransposes) -> None:
    distinct = len(found.tensors)
    which = (
        f"The {MOST_MEASURED} largest of {distinct} distinct Transposes will run"
        if distinct > MOST_MEASURED
        else f"{counted(distinct, 'distinct Transpose')} will run"
    )
    st.caption(
        f"{which} alone in ONNX Runtime: as written, as reduce-transposes writes it, and beside a"
        " plain copy of as many bytes, in turns; about a second each."
    )


def show_transposes(report: TransposesReport) -> None:
    """What was measured, as far as it is."""
    if report.timed:
        show_figure(rate_dots(report.timed, title=report.title), "transposes-rates")
    else:
        show_message(report.title, key="no-rates")
    st.caption(
        words(
            f"{len(report.times)} of {counted(report.distinct, 'distinct Transpose')}, the largest"
            " first: medians on the CPU, one thread, without what the model around them takes; the"
            " reduced one with its two Reshapes."
            f" {measured_on(report.machine, report.started_at)}."
        )
    )
    show_twin("Rates as a table", times_table(report.times))
