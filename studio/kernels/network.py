"""Generated kernels in the whole network: what was decided, and the kernels that stay."""

from __future__ import annotations

import streamlit as st

from optimizer.errors import StudioError
from optimizer.numbers import counted, digits, times_text
from profiling.kernels.generated.network import (
    NetworkDecision,
    NetworkKernel,
    finding,
    gave,
    kept_network,
)
from profiling.kernels.generated.regions import KINDS
from studio.artifacts.opened import OpenedModel
from studio.experiment import measured_on
from studio.page.figure import Table, show_figure, show_table
from studio.page.parts import show_message, words
from studio.race.latency_figure import latency_strips
from studio.services import records

COMMAND = "passlens kernels MODEL --whole"


def render_network(model: OpenedModel) -> None:
    """What was decided about the open model; how to have it decided, where nothing was."""
    st.subheader("Generated kernels in the whole network", anchor=False)
    try:
        found = kept_network(model.summary.digest, records())
    except StudioError as error:
        show_message(error.message, key="network-records")
        return
    if found is None:
        st.caption(
            "Nothing is decided about this network on this machine: which regions as generated "
            "kernels make it faster than every form of it without any, and which do not pay and "
            "stay as they are."
        )
        st.code(COMMAND, language=None)
        return
    show_network(found)


def show_network(decision: NetworkDecision) -> None:
    """The race of all forms, and every kernel with what became of it."""
    settled = decision.settled
    text = finding(decision)
    show_figure(latency_strips(settled.first, title=f"{text[:1].upper()}{text[1:]}"), "network")
    st.caption(words(_how(decision)))
    if decision.kernels:
        show_table(kernel_table(decision))


def kernel_table(decision: NetworkDecision) -> Table:
    """A row a kernel: those that stay first, in the order of what they save."""
    reasons = {one.name: reason for one, reason in decision.left_out()}
    kept = decision.kept()
    rows = [*kept, *(one for one in decision.kernels if one not in kept)]
    return {
        "region": [one.region.title for one in rows],
        "gained by": [one.region.kind for one in rows],
        "places": [one.region.places for one in rows],
        "times as fast alone": [_alone(one) for one in rows],
        "in the network": [reasons.get(one.name, "stays") for one in rows],
        "on paper": [one.region.reason for one in rows],
        "function": [one.name for one in rows],
    }


def _alone(one: NetworkKernel) -> float | None:
    return None if one.speedup is None else digits(one.speedup)


def _how(decision: NetworkDecision) -> str:
    first = decision.settled.first
    told = [measured_on(first.machine, first.started_at), counted(decision.threads, "thread")]
    told += [f"{name} = {size}" for name, size in decision.sizes.items()]
    told += [f"{', '.join(same)}: the graph of {one}" for one, same in decision.same.items()]
    for kind in KINDS:
        factor = gave(decision, kind)
        told += [] if factor is None else [f"{kind}: {times_text(factor)}"]
    return f"{'; '.join(told)}. Every form ran in turns with the others, outputs compared first."
