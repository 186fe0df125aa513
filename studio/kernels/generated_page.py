"""Generated kernels: the regions of the open network, raced alone and in the whole network."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from optimizer.errors import StudioError
from optimizer.isolation import Progress
from optimizer.pipeline import Pipeline
from profiling.kernels.generated.decisions import KernelDecision, kept
from profiling.kernels.generated.network import NetworkDecision, kept_network
from profiling.kernels.generated.own_schedules import OwnSchedule, kept_own, older_own
from studio.artifacts.opened import OpenedModel, OpenedRun, Subject
from studio.experiment import Equipment
from studio.gallery import gallery
from studio.kernels.link import LEAST_SECONDS, MOST_SECONDS, GeneratedChoice
from studio.kernels.network import show_outcome
from studio.kernels.network_job import (
    PRESET,
    Alone,
    Keeping,
    NetworkRequest,
    decide,
    folder_key,
    write_folder,
)
from studio.kernels.region_page import Decisions, choose_region, show_left, show_regions
from studio.kernels.regions import REGIONS, PlannedRegions, RegionsRequest
from studio.opening import pipeline_task, try_again
from studio.page.launch import launch
from studio.page.parts import file_stem, settled, show_message
from studio.services import keeper, pool, records, store, tasks
from studio.variants.variant import RunSetup
from studio.workspace import current, remember

_NAME = "Race the whole network"
_FOLDER = "Write the folder"
_ALONE_S = 15
"""What the decision about one kernel takes: building, edge cases, its race."""
_THREADS, _SECONDS = "kernel-threads", "network-seconds"


def render_section(setup: RunSetup) -> None:
    """The section."""
    request = _request()
    model = setup.model
    planned = _planned(model, request.threads)
    if planned is None:
        return
    run, regions = planned
    if not regions.kernels:
        st.markdown("**Nothing of this network becomes a kernel**")
        show_left(regions)
        return
    alone = _kept_alone(regions)
    _say_what_is_older(model, regions)
    _network((model, run), request, regions, alone)
    with st.container(key="body-region"):
        choose_region(regions.kernels, alone)


def _request() -> NetworkRequest:
    """With how many threads, for how long."""
    choice = current().of(GeneratedChoice)
    st.session_state[_THREADS], st.session_state[_SECONDS] = choice.threads, choice.seconds
    most = max(choice.threads, os.cpu_count() or 1)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            "Threads", 1, most, key=_THREADS, on_change=_take, width=140,
            help="Of a session. Decisions hold for a number of threads.",
        )  # fmt: skip
        st.number_input(
            "Seconds", LEAST_SECONDS, MOST_SECONDS, key=_SECONDS, on_change=_take, step=10,
            help="By the clock, for all races of the network. Those of single kernels come before,"
            " some 15 s for each that was not raced here yet.",
            width=140,
        )  # fmt: skip
        st.caption("Of the network as it came: variants and options on the left take no part.")
    return NetworkRequest(choice.threads, choice.seconds)


def _take() -> None:
    state, choice = st.session_state, current().of(GeneratedChoice)
    kept_choice = replace(choice, threads=int(state[_THREADS]), seconds=int(state[_SECONDS]))
    remember(current().having(kept_choice))


def _planned(model: OpenedModel, threads: int) -> tuple[OpenedRun, PlannedRegions] | None:
    """The preset's run and its regions; None while there is progress or an error to show."""
    pipeline = Pipeline.of(PRESET)
    retry = partial(try_again, current(), pipeline)
    run = settled(pipeline_task(pipeline, model), "Planning kernels", retry)
    if run is None:
        return None
    request = RegionsRequest(threads)
    key = REGIONS.key((model, run), request)
    made = tasks().start(key, partial(store().get, REGIONS, (model, run), request))
    regions = settled(made, "Planning kernels", partial(tasks().drop_failed, key))
    return None if regions is None else (run, regions)


def _network(
    subject: Subject, request: NetworkRequest, regions: PlannedRegions, alone: Decisions
) -> None:
    """The decision about the network: to be made, under way, or made."""
    model = subject[0]
    known = _kept_network(model, request.threads)
    key = ("network decision", model.key, request.threads)

    def work(
        *,
        progress: Progress,
        cancelled: Callable[[], bool],
        partial: Callable[[Any], None] = lambda _: None,
    ) -> NetworkDecision:
        bench = Equipment(store(), pool(), subject, progress, cancelled, partial)
        return decide(bench, request, Keeping(_kept, keeper().keep, _own))

    def explain() -> None:
        if known is None:
            open_kernels = len(regions.kernels) - len(alone)
            _explain(_ALONE_S * open_kernels + request.seconds)
        else:
            show_outcome(known)
            _say_taken_back(known)
        show_regions(regions, alone, known)

    def show(found: NetworkDecision) -> None:
        if keeper().problem:
            show_message(keeper().problem, key="not-kept")
        show_outcome(found)
        _say_taken_back(found)
        show_regions(regions, alone, found)

    def so_far(found: Alone) -> None:
        show_regions(regions, found.decisions, None)

    launch(key, work, explain=explain, show=show, name=_NAME, show_partial=so_far)
    task = tasks().get(key)
    found = known if task is None else task.result
    if found is not None and found.settled.kept:
        _folder(subject, found)


def _folder(subject: Subject, decision: NetworkDecision) -> None:
    """The model with the kernels that stay, to take along."""

    def work(*, progress: Progress, cancelled: Callable[[], bool]) -> Any:
        return write_folder(Equipment(store(), pool(), subject, progress, cancelled), decision)

    def explain() -> None:
        st.caption(
            "The model with the kernels that stay, their library and programs that run both: a "
            "folder that needs ONNX Runtime alone."
        )

    def show(packed: Any) -> None:
        if not packed.is_file():
            show_message("The folder was cleared away; write it once more.", key="folder-gone")
            return
        st.download_button(
            "Download the folder (.zip)",
            data=packed.read_bytes,
            file_name=f"{file_stem()}-kernels.zip",
            icon=":material/download:",
            on_click="ignore",
            key="kernels-folder",
        )

    key = folder_key(subject[0], decision)
    launch(key, work, explain=explain, show=show, name=_FOLDER, again="Write it again")


def _explain(duration_s: float) -> None:
    sample = gallery.find(current().model)
    model = "MODEL" if sample is None else sample.id
    st.html(
        '<div class="empty"><h2>Which generated kernels make this network faster?</h2>'
        "<p>Each kernel is built, checked on edge cases and raced alone. Then the network runs "
        "with all that do not lose, against its source and what the presets make of it, with and "
        "without the runtime's slow fusions; what does not pay is taken back. Here will be what "
        "stays, and how much faster it is with a 95 % interval.</p>"
        f"<p>About {duration_s:.0f} s; on the command line: "
        f"<code>passlens kernels {model} --whole</code></p>"
        "</div>"
    )


def _kept(key: str) -> KernelDecision | None:
    """A decision about a kernel; None also where the records are away."""
    try:
        return kept(key, records()) if key else None
    except StudioError:
        return None


def _own(kernel: str) -> tuple[OwnSchedule, ...]:
    """Schedules of a kernel that somebody made; none where the records are away."""
    try:
        return kept_own(kernel, records())
    except StudioError:
        return ()


def _say_taken_back(decision: NetworkDecision) -> None:
    """Which schedules of a decision nobody keeps any more."""
    gone = [
        one.own.name
        for one in decision.kernels
        if one.own is not None and one.own not in _own(one.name)
    ]
    if gone:
        names = ", ".join(gone)
        told = f"Raced with schedules that were taken back since: {names}. Race once more."
        show_message(told, key="network-orders")


def _say_what_is_older(model: OpenedModel, regions: PlannedRegions) -> None:
    """Schedules that were kept of regions that this network does not have any more."""
    names = [one.region.name for one in regions.kernels]
    try:
        older = older_own(model.summary.digest, names, records())
    except StudioError:
        return
    for number, one in enumerate(older):
        told = f"{one.text}: this network does not have that region any more."
        show_message(told, key=f"older-schedule-{number}")


def _kept_alone(regions: PlannedRegions) -> Decisions:
    found = {one.region.name: _kept(one.key) for one in regions.kernels}
    return {name: decision for name, decision in found.items() if decision is not None}


def _kept_network(model: OpenedModel, threads: int) -> NetworkDecision | None:
    try:
        return kept_network(model.summary.digest, records(), threads=threads)
    except StudioError as error:
        show_message(error.message, key="network-records")
        return None
