"""Break-even: after how many inferences optimizing has paid."""

from __future__ import annotations

from functools import partial

import streamlit as st

from profiling.config import RunConfig
from profiling.worth.break_even import BreakEven
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.cost.break_even.figure import break_even_line
from studio.cost.break_even.job import (
    BreakEvenReport,
    BreakEvenRequest,
    break_even_from_payload,
    break_even_key,
    run_break_even,
)
from studio.cost.link import CostChoice
from studio.cost.pieces import Table, figure, how, run_as, twin
from studio.numbers import digits
from studio.page.launch import Draw, launch
from studio.page.parts import show_message
from studio.page.recorded import show_earlier
from studio.services import keeper, pool, store


def render_break_even(
    model: OpenedModel,
    run: OpenedRun,
    config: RunConfig,
    choice: CostChoice,
    *,
    held: Draw | None = None,
) -> None:
    """The section."""
    request = BreakEvenRequest(config, float(choice.seconds))
    tune_s = choice.tune_s
    launch(
        break_even_key(model, run, request),
        partial(
            run_break_even, store(), pool(), (model, run), request,
            tune_s=tune_s, keep=keeper().keep,
        ),
        explain=lambda: _explain(run),
        show=lambda report: show_break_even(report.with_tuning(tune_s)),
        name="Race source and optimized",
        held=held,
        earlier=lambda: show_earlier(
            "worth", model, break_even_from_payload, show_break_even, section="break-even"
        ),
    )  # fmt: skip


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
    for number, remark in enumerate(report.race.remarks):
        show_message(remark, key=f"even-remark-{number}")
    result = report.result
    if result is None:
        show_message(f"{report.finding}.", key="no-break-even")
        return
    figure(break_even_line(result, title=report.finding), "break-even")
    options = run_as(report.request.config)
    st.caption(
        how(report.race, races=1, seconds=report.request.seconds, options=options)
        + f" Each inference: {result.contrast}; the band is that interval. Spent once: optimizing,"
        " tuning, creating the session and the first run, less what the source takes for the last"
        " two."
    )
    twin("What is spent once and every time, as a table", _table(result), key="break-even")


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
