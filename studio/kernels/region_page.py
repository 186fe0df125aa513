"""The regions of a network as a list, and one of them: what was decided, and its code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from optimizer.numbers import counted
from profiling.kernels.generated.decisions import KernelDecision
from profiling.kernels.generated.network import NetworkDecision
from profiling.racing.samples import Contrast
from studio.kernels.link import GeneratedChoice
from studio.kernels.network import outcomes
from studio.kernels.regions import PlannedKernel, PlannedRegions
from studio.kernels.report import show_decision
from studio.page.figure import Table, show_table, show_twin
from studio.page.parts import go_to, show_message, words
from studio.schedule.link import REGION, ScheduleChoice
from studio.workspace import current, remember, remember_elsewhere

Decisions = Mapping[str, KernelDecision]
_CODE_PX = 420
_REGION = "kernel-region"


def show_regions(
    planned: PlannedRegions, alone: Decisions, network: NetworkDecision | None
) -> None:
    """Every region: what it gains on paper, alone and in the network."""
    places = sum(one.region.places for one in planned.kernels)
    st.markdown(
        f"**{counted(len(planned.kernels), 'region')} in {counted(places, 'place')} "
        "would become kernels**"
    )
    show_table(regions_table(planned, alone, network))
    show_left(planned)


def show_left(planned: PlannedRegions) -> None:
    """Places that stay as they are, by reason."""
    if planned.left:
        count = counted(sum(planned.left.values()), "place")
        table: Table = {"why": [*planned.left], "places": [*planned.left.values()]}
        show_twin(f"{count} left as they are, and why", table, expanded=not planned.kernels)


def regions_table(
    planned: PlannedRegions, alone: Decisions, network: NetworkDecision | None
) -> Table:
    """A row a region, numbered as the choice below it; without what nothing is known of."""
    told: Mapping[str, str] = outcomes(network) if network is not None else {}
    kernels = planned.kernels
    found = [alone.get(one.region.name) for one in kernels]
    best = [None if one is None else _best(one) for one in found]
    table: Table = {
        "no.": list(range(1, len(kernels) + 1)),
        "region": [one.region.title for one in kernels],
        "gained by": [one.region.kind for one in kernels],
        "alone": [_alone_text(one) for one in found],
        "times as fast": [None if one is None else float(f"{one.speedup:.3g}") for one in best],
        "in the network": [told.get(one.region.name, "not raced") for one in kernels],
        "on paper": [one.region.reason for one in kernels],
        "function": [one.region.name for one in kernels],
    }
    return {name: cells for name, cells in table.items() if any(c is not None for c in cells)}


def choose_region(kernels: Sequence[PlannedKernel], alone: Decisions) -> None:
    """One region, chosen by its number: why it is one, its race, its code."""
    names = [one.region.name for one in kernels]
    chosen = current().of(GeneratedChoice).region
    st.session_state[_REGION] = chosen if chosen in names else names[0]
    titles = {
        one.region.name: f"{number}. {one.region.title}" for number, one in enumerate(kernels, 1)
    }
    name = st.selectbox(
        "Region", names, format_func=titles.__getitem__, key=_REGION, on_change=_take
    )
    kernel = kernels[names.index(name)]
    work = f"{kernel.work}. " if kernel.work else ""
    st.caption(words(f"{work}{kernel.region.reason}"))
    decision = alone.get(name)
    if decision is None:
        st.caption("Not raced on this machine yet; its code is written from these loops.")
    else:
        show_decision(decision)
    _show_code(kernel)


def _take() -> None:
    choice = current().of(GeneratedChoice)
    kept = GeneratedChoice(choice.threads, choice.seconds, st.session_state[_REGION])
    remember(current().having(kept))


def _show_code(kernel: PlannedKernel) -> None:
    code = kernel.code
    if code is None:
        return
    texts: dict[str, tuple[str, str | None]] = {
        "Operators": (code.operators, None),
        "Schedule": (code.schedule, None),
        "C": (code.c, "c"),
    }
    if code.refused:
        show_message(code.refused, key="region-refused")
    elif st.button("Open its loops in Schedule", key="region-loops"):
        remember_elsewhere(current().having(ScheduleChoice(f"{REGION}{kernel.region.name}")))
        go_to("schedule")
    shown = {title: told for title, told in texts.items() if told[0]}
    for tab, (text, language) in zip(st.tabs([*shown]), shown.values(), strict=True):
        with tab:
            tall = text.count("\n") > _CODE_PX // 20
            st.code(text, language=language, height=_CODE_PX if tall else "content")


def _alone_text(decision: KernelDecision | None) -> str:
    """Who won, and what that is held against."""
    if decision is None:
        return "not raced"
    if decision.raced.race is None:
        return f"not raced: {decision.raced.error}"
    first = decision.raced.candidates[0].label
    return f"{decision.winner}, before: {first}" if decision.pays else f"{first} stays"


def _best(decision: KernelDecision) -> Contrast | None:
    """The fastest right code against the runtime's best form; None where none was timed."""
    made = [
        row.contrast
        for row in decision.raced.rows()
        if row.candidate.changes.get("generated_kernels") != "off" and row.believable
    ]
    return max((one for one in made if one), key=lambda one: one.speedup, default=None)
