"""Fusion: a chain of operators before and after it became one, predicted and measured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from optimizer.cost.device import DeviceProfile
from optimizer.numbers import counted, digits
from studio.artifacts.opened import Subject
from studio.cost.device import choose_device
from studio.cost.fusion.chain import MOST_NODES, Chain, find_chains
from studio.cost.fusion.examples import EXAMPLES
from studio.cost.fusion.figure import fusion_bars, versions
from studio.cost.fusion.fusion import Fusion
from studio.cost.fusion.job import FUSION, ChainRequest, Explained, explained
from studio.cost.fusion.memory_figure import memory_picture
from studio.cost.fusion.race import FUSION_EXPERIMENT, FusionRaceRequest, fusion_finding
from studio.cost.link import CostChoice
from studio.cost.prediction.job import device_text
from studio.cost.sidebar import seconds, setting, take
from studio.page.computed import computed
from studio.page.experiment import offer
from studio.page.figure import Table, is_dark, show_figure, show_table, show_twin
from studio.page.parts import show_message, show_remarks, words
from studio.race.job import RaceReport
from studio.race.latency_figure import latency_strips
from studio.race.report import how, percentiles, show_race_cut_short, show_race_so_far
from studio.race.speedup_figure import speedup_forest
from studio.services import pool, store
from studio.workspace import current

SELECTED = "selected"


def render_fusion(subject: Subject, choice: CostChoice) -> None:
    """The section."""
    with st.sidebar:
        device = choose_device(choice)
    model = subject[0]
    key, run = ("chains", model.key), subject[1]
    chains = computed(key, partial(pool(), find_chains, run.files), "Looking for chains")
    if chains is None:
        return
    with st.sidebar:
        request = _choose(subject, choice, chains)
        st.subheader("Measure", anchor=False)
        seconds(choice)
    wanted = (request, device_text(device))
    work = partial(explained, store(), subject, wanted)
    found = computed(FUSION.key(subject, wanted), work, "Taking the chain out")
    if found is not None:
        _show(found, device)
        race = FusionRaceRequest(request, found, device, float(choice.seconds))
        render_fusion_race(subject, race)


def _choose(subject: Subject, choice: CostChoice, chains: tuple[Chain, ...]) -> ChainRequest:
    """Which chain: the model's own, what is selected in the viewer, or a built-in one."""
    st.subheader("Chain", anchor=False)
    titles = _titles(chains)
    chosen = choice.chain if choice.chain in titles else next(iter(titles))
    st.selectbox(
        "Chain",
        list(titles),
        format_func=titles.__getitem__,
        label_visibility="collapsed",
        help="Chains of this model, those first that move most; what is selected in the viewer;"
        " examples to play with.",
        **setting("chain", chosen),
    )
    if not chains:
        st.caption("No chain was found in this model. An example shows what fusing does.")
    if chosen in EXAMPLES:
        return ChainRequest(EXAMPLES[chosen].title, example=chosen, dims=_dims(chosen, choice))
    if chosen == SELECTED:
        view = current().view
        last = subject[1].result.steps
        steps = (0, last if view.step is None else min(view.step, last), last)
        return ChainRequest("Selected nodes", tuple(sorted(view.select)), steps)
    chain = next(chain for chain in chains if chain.id == chosen)
    return ChainRequest(chain.title, chain.nodes)


def _titles(chains: tuple[Chain, ...]) -> Mapping[str, str]:
    selected = current().view.select
    found: dict[str, str] = {}
    if 2 <= len(selected) <= MOST_NODES:
        found[SELECTED] = f"Selected in the viewer: {counted(len(selected), 'node')}"
    for chain in chains:
        places = f"{chain.places} × " if chain.places > 1 else ""
        found[chain.id] = f"{places}{chain.title}"
    for identity, example in EXAMPLES.items():
        found[identity] = f"Example: {example.title}"
    return found


def _dims(chosen: str, choice: CostChoice) -> tuple[tuple[str, int], ...]:
    """Sliders over an example's sizes."""
    example = EXAMPLES[chosen]
    sizes = example.sizes(dict(choice.dims))
    for name, dim in example.dims.items():
        key = f"cost-dim-{name}"
        st.session_state[key] = sizes[name]
        st.select_slider(dim.title, dim.sizes, key=key, on_change=partial(_take_dims, chosen))
    return tuple(sorted(sizes.items()))


def _take_dims(chosen: str) -> None:
    names = EXAMPLES[chosen].dims
    take(dims=tuple(sorted((name, int(st.session_state[f"cost-dim-{name}"])) for name in names)))


def _show(explanation: Explained, device: DeviceProfile) -> None:
    found = explanation.fusion
    st.markdown(f"**{words(found.title)}**")
    show_figure(fusion_bars(found), "fusion-bars")
    st.caption(words(f"Predicted for {device.title}. {_how(found)}"))
    drawn = memory_picture(found, dark=is_dark())
    if drawn is not None:
        show_figure(drawn, "fusion-memory")
        st.caption(
            "Counted on paper: each kernel reads its inputs from memory or a cache and writes its"
            " result there. Weights are read either way."
        )
    show_twin("Every access as a table", _table(found))


def _how(found: Fusion) -> str:
    passes = (
        f"Fused by: {', '.join(found.fired)}." if found.fired else "No pass changes this chain."
    )
    ideal = (
        " One kernel: launched once, reads what comes from outside, writes the result, arithmetic"
        " as before; an estimate of what is left to gain."
        if found.ideal is not None
        else ""
    )
    return (
        f"{passes}{ideal} The chain alone, so that its weights stay in the cache. Upper"
        " lane: arithmetic; lower lane: reading and writing; the longer one counts."
    )


def _table(found: Fusion) -> Table:
    rows = [
        (version.name, kernel, way, access)
        for version in versions(found)
        for kernel in version.kernels
        for way, accesses in (("read", kernel.reads), ("write", kernel.writes))
        for access in accesses
    ]
    return {
        "version": [name for name, *_ in rows],
        "kernel": [kernel.op_type for _, kernel, *_ in rows],
        "access": [way for _, _, way, _ in rows],
        "tensor": [access.label for *_, access in rows],
        "shape": [access.shape for *_, access in rows],
        "bytes": [access.size_bytes for *_, access in rows],
        "kernel's time, µs": [digits(kernel.parts.total_us) for _, kernel, *_ in rows],
    }


def render_fusion_race(subject: Subject, request: FusionRaceRequest) -> None:
    """The button, progress, and what came out."""
    offer(
        FUSION_EXPERIMENT,
        subject,
        request,
        name="Race the chain",
        explain=_explain_race,
        show=lambda found: _show_race(found, request),
        show_partial=show_race_so_far,
        show_left=show_race_cut_short,
    )


def _explain_race() -> None:
    st.html(
        '<div class="empty"><h2>Does it pay here?</h2>'
        "<p>The chain alone, on this machine, one thread: as it is, as our passes make it, and"
        " fused by the runtime itself, in turns, each in a process of its own. Here will be how"
        " much faster each is, with its interval.</p></div>"
    )


def _show_race(found: RaceReport, request: FusionRaceRequest) -> None:
    (race,) = found.races
    for number, timing in enumerate(race.timings):
        if not timing.believable:
            show_message(f"{timing.label}: {race.verdict(timing.label)}", key=f"chain-{number}")
    show_remarks(race.remarks, key="chain")
    title = fusion_finding(race, request.explained.fusion, request.device)
    show_figure(latency_strips(race, title=title), "fusion-latency")
    st.caption(
        words(
            "The same inputs again and again: on a CPU everything may lie in its caches, so that"
            " what fusing keeps out of memory was cheap to begin with, and the gain is smaller than"
            " in the whole model or on a GPU. A run includes the session's own overhead."
            f" {how(race)}"
        )
    )
    if len(race.timings) > 1:
        show_figure(speedup_forest(race), "fusion-speedup")
    show_table(percentiles([race]))
