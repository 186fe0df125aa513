"""Break-even: after how many inferences optimizing has paid."""

from __future__ import annotations

import streamlit as st

from optimizer.numbers import digits
from profiling.config import RunConfig
from profiling.worth.break_even import BreakEven
from studio.artifacts.opened import OpenedRun, Subject
from studio.cost.break_even.figure import break_even_line
from studio.cost.break_even.job import BREAK_EVEN_EXPERIMENT, BreakEvenReport, BreakEvenRequest
from studio.cost.link import CostChoice
from studio.cost.worth import how
from studio.page.experiment import offer
from studio.page.figure import Table, show_figure, show_twin
from studio.page.launch import Draw
from studio.page.parts import show_message, show_remarks


def render_break_even(
    subject: Subject, config: RunConfig, choice: CostChoice, blocked: Draw | None
) -> None:
    """The section."""
    offer(
        BREAK_EVEN_EXPERIMENT,
        subject,
        BreakEvenRequest(config, float(choice.seconds), choice.tune_s),
        name="Race source and optimized",
        explain=lambda: _explain(subject[1]),
        show=lambda report: show_break_even(report.with_tuning(choice.tune_s)),
        show_recorded=show_break_even,
        blocked=blocked,
    )


def _explain(run: OpenedRun) -> None:
    st.html(
        '<div class="empty"><h2>When has optimizing paid?</h2>'
        f"<p>Optimizing took {run.result.seconds:.3g} s of CPU time. A race of the source"
        " against the optimized model says what each inference saves, and what creating the"
        " session and the first run cost either way.</p>"
        "<p>Here will be: the number of inferences after which the time is back, with its"
        " interval.</p></div>"
    )


def show_break_even(report: BreakEvenReport) -> None:
    """What was found."""
    show_remarks(report.race.remarks, key="even")
    result = report.result
    if result is None:
        show_message(f"{report.title}.", key="no-break-even")
        return
    show_figure(break_even_line(result, title=report.title), "break-even")
    st.caption(
        how(report.race, report.request.config, seconds=report.request.seconds)
        + f" Each inference: {result.contrast}; the band is that interval. Spent once: optimizing,"
        " tuning, creating the session and the first run, less what the source takes for the last"
        " two."
    )
    show_twin("What is spent once and every time, as a table", _table(result))


def _table(found: BreakEven) -> Table:
    parts = ("optimize_s", "tune_s", "create_s", "first_s")
    names = ("optimizing, CPU s", "tuning, s", "creating the session, s", "first run, s")
    table: Table = {
        "": [*names, "all of it once, s", "every inference, ms"],
    }
    for title, once, every in (
        ("as it is", found.before, found.before_ms),
        ("optimized", found.after, found.after_ms),
    ):
        values = [getattr(once, part) for part in parts]
        table[title] = [digits(value) for value in (*values, once.total_s, every)]
    return table
