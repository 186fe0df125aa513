"""The decision about a whole network: how much faster, which kernels stay, which do not and why."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from optimizer.numbers import counted, digits, three_digits, times_text
from profiling.codegen.store import code_version
from profiling.config.advice import SLOW_FUSIONS
from profiling.kernels.generated.network import NetworkDecision, NetworkKernel, finding, gave
from profiling.kernels.generated.regions import KINDS
from profiling.racing.race import Race
from studio.experiment import measured_on
from studio.kernels.report import command_line
from studio.page.figure import Table, show_figure, show_table, show_twin
from studio.page.parts import show_message, words
from studio.race.latency_figure import latency_strips


def show_network(decision: NetworkDecision) -> None:
    """The decision with every kernel and what became of it, as History draws it."""
    show_outcome(decision)
    if decision.kernels:
        show_table(kernel_table(decision))


def show_outcome(decision: NetworkDecision) -> None:
    """How much faster the network is, against what, and how to run it so."""
    settled = decision.settled
    text = finding(decision)
    title = f"{text[:1].upper()}{text[1:]}"
    last = settled.last if settled.kept else None
    show_figure(latency_strips(last or settled.first, title=title, over=True), "network")
    st.caption(words(_how(decision)))
    if decision.code != code_version():
        told = "Other code writes the kernels now than when this was decided; race once more."
        show_message(told, key="network-old")
    if settled.undecided:
        count = counted(len(settled.undecided), "kernel")
        told = f"There was no time to ask about {count} apart; more seconds give some."
        show_message(told, key="network-undecided")
    _say_how_to_run(decision)
    if last is not None:
        with st.expander("All kernels together, against every form without any"):
            show_figure(latency_strips(settled.first, title="Before any was taken back"), "all")
    show_twin("Every form as a table", _forms_table(settled.first, settled.best))


def kernel_table(decision: NetworkDecision) -> Table:
    """A row a kernel: those that stay first, in the order of what they save."""
    told = outcomes(decision)
    kept = decision.kept()
    rows = [*kept, *(one for one in decision.kernels if one not in kept)]
    return {
        "region": [one.region.title for one in rows],
        "gained by": [one.region.kind for one in rows],
        "places": [one.region.places for one in rows],
        "times as fast alone": [_alone(one) for one in rows],
        "in the network": [told[one.name] for one in rows],
        "on paper": [one.region.reason for one in rows],
        "function": [one.name for one in rows],
    }


def outcomes(decision: NetworkDecision) -> Mapping[str, str]:
    """By name of a kernel what became of it in the network."""
    told = {one.name: reason for one, reason in decision.left_out()}
    stays = {name: "stays" for name in decision.settled.kept}
    for part in decision.settled.parts:
        found = part.contrast
        if part.pays and found.rounds:
            others = len(part.names) - 1
            share = f" with {counted(others, 'other')}" if others else ""
            text = f"stays: {times_text(found.speedup)}{share}"
            stays |= {name: text for name in part.names if name in stays}
    return told | stays


def _say_how_to_run(decision: NetworkDecision) -> None:
    """Options that belong to what won, for the command line."""
    settled = decision.settled
    best = next(one for one in settled.first.timings if one.label == settled.best)
    if settled.kept or not best.config.optimizers_off:
        return
    st.text("No kernel, but faster without the runtime's slow fusions; for the command line:")
    st.code(command_line({"optimizers_off": "+".join(SLOW_FUSIONS)}), language=None)


def _forms_table(race: Race, best: str) -> Table:
    contrasts = [race.contrast(one.label, baseline=best) for one in race.timings]
    timed = [one.summary for one in race.timings]
    return {
        "form": [one.label for one in race.timings],
        "median, ms": [None if one is None else digits(one.p50_ms) for one in timed],
        f"against {best}": [
            "the best without kernels"
            if one.label == best
            else race.verdict(one.label)
            if found is None or not one.believable
            else found.brief
            for one, found in zip(race.timings, contrasts, strict=True)
        ],
    }


def _alone(one: NetworkKernel) -> float | None:
    return None if one.speedup is None else digits(one.speedup)


def _how(decision: NetworkDecision) -> str:
    settled = decision.settled
    race = (settled.last if settled.kept else None) or settled.first
    times = {one.label: one.summary for one in race.timings}
    before, after = times.get(settled.best), race.timings[-1].summary
    told: list[str] = []
    if settled.kept and before is not None and after is not None:
        without, those = three_digits(before.p50_ms), three_digits(after.p50_ms)
        told += [f"{without} ms a run without kernels, {those} ms with those that stay"]
    told += [measured_on(race.machine, race.started_at), counted(decision.threads, "thread")]
    told += [f"load {race.machine.load:.1f}"]
    told += [f"{one.name} {'×'.join(map(str, one.shape)) or '1'}" for one in race.feeds[:4]]
    told += [f"{', '.join(same)}: the graph of {one}" for one, same in decision.same.items()]
    for kind in KINDS:
        factor = gave(decision, kind)
        told += [] if factor is None else [f"{kind}: {times_text(factor)}"]
    return f"{'; '.join(told)}. Every form ran in turns with the others, outputs compared first."
