"""A network with generated kernels, decided about in the background; and its folder."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from optimizer.errors import StudioError
from optimizer.isolation import Following, part_of
from optimizer.model.generated_functions import generated_names
from optimizer.model.loader import load_path
from optimizer.pipeline import Pipeline
from optimizer.registry import Preset
from profiling.codegen.compiler import compiler_missing
from profiling.codegen.store import code_version
from profiling.kernels.generated.deciding import (
    PRESETS,
    SOURCE,
    NetworkForms,
    Shelf,
    decide_kernels,
    decide_together,
)
from profiling.kernels.generated.decisions import KernelDecision, recording_of
from profiling.kernels.generated.network import NetworkDecision, network_recording
from profiling.kernels.generated.own_schedules import OwnSchedule, with_schedules
from profiling.kernels.generated.placed import placed_kernels
from profiling.kernels.generated.settling import without_kernels
from profiling.records import Recording
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.experiment import Equipment
from studio.export.kernels import export_kernels
from studio.kernels.regions import REGIONS, RegionsRequest

PRESET: Preset = "generated"
_ALONE_S = 4.0
"""For the race of one kernel, as on the command line."""
_ONE_S = 15.0
"""What the decision about one kernel takes: building, edge cases, its race."""


@dataclass(frozen=True, slots=True)
class NetworkRequest:
    """How a network is decided about.

    Attributes:
        threads: of a session.
        seconds: by the clock, for the races of the network.
    """

    threads: int = 1
    seconds: int = 60


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where decisions come from and go to.

    Attributes:
        find: the decision about a kernel by the key of its workload; None if there is none.
        keep: takes a recording.
        own: schedules of a kernel that somebody made, by its name.
    """

    find: Callable[[str], KernelDecision | None]
    keep: Callable[[Recording], int | None]
    own: Callable[[str], tuple[OwnSchedule, ...]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class Alone:
    """What is decided about single kernels so far, by name."""

    decisions: dict[str, KernelDecision]


def decide(bench: Equipment, request: NetworkRequest, keeping: Keeping) -> NetworkDecision:
    """Decide about each kernel of the open model, then about all of them in the network.

    Args:
        bench: whose subject's run is one of the preset `generated`.
        request: how.
        keeping: decisions of before, and of now.

    Raises:
        StudioError: nothing can be built or run, or it was cancelled.
    """
    if missing := compiler_missing():
        raise StudioError(missing)
    threads, seconds = request.threads, request.seconds
    bench.progress("planning kernels", 0.0)
    planned = bench.store.get(REGIONS, bench.subject, RegionsRequest(threads), **bench.following)
    alone_s = _ONE_S * sum(keeping.find(one.key) is None for one in planned.kernels)
    share = alone_s / (alone_s + seconds)
    with tempfile.TemporaryDirectory(prefix="passlens-network-") as folder:
        forms = _forms(bench, Path(folder))
        graph = load_path(forms.generated).ir.graph
        kernels = [
            replace(one, own=keeping.own(one.name))
            for one in placed_kernels(forms.generated, graph, planned.sizes)
        ]
        alone = decide_kernels(
            kernels, _shelf(bench, keeping), pool=bench.pool, seconds=_ALONE_S, threads=threads,
            **_part(bench.following, 0.0, share),
        )  # fmt: skip
        found = decide_together(
            forms, [one.region for one in planned.kernels], alone,
            own=[own for one in kernels for own in one.own], pool=bench.pool,
            seconds=seconds, threads=threads, **_part(bench.following, share, 1.0),
        )  # fmt: skip
    keeping.keep(network_recording(found, bench.model.summary.digest))
    return found


def _shelf(bench: Equipment, keeping: Keeping) -> Shelf:
    """Decisions about single kernels, each published as soon as it is there."""
    known: dict[str, KernelDecision] = {}

    def publish(decision: KernelDecision) -> None:
        known[decision.name] = decision
        bench.partial(Alone(dict(known)))

    def find(key: str) -> KernelDecision | None:
        decision = keeping.find(key)
        if decision is not None:
            publish(decision)
        return decision

    def keep(decision: KernelDecision) -> None:
        publish(decision)
        recording = recording_of(decision)
        if recording is not None:
            keeping.keep(recording)

    return Shelf(find, keep)


def _part(following: Following, begin: float, end: float) -> Following:
    """Who follows what takes this part of the work, from 0 to 1."""
    span = max(end - begin, 1e-9)
    return part_of(following, "", begin / span, of=1 / span)


def _forms(bench: Equipment, folder: Path) -> NetworkForms:
    store, (model, run) = bench.store, bench.subject
    plain = {SOURCE: store.materialize(model, run, 0)}
    for preset in PRESETS:
        bench.progress(f"writing what {preset} makes of it", 0.0)
        made = store.run(model, Pipeline.of(preset), **bench.following)
        plain[preset] = store.materialize(model, made, made.result.steps)
    generated = store.materialize(model, run, run.result.steps)
    return NetworkForms(model.summary.name, plain, generated, folder, {})


def folder_key(model: OpenedModel, decision: NetworkDecision) -> tuple[object, ...]:
    """Of the task that writes the folder of a decision."""
    return ("kernels folder", model.key, code_version(), *_mark(decision))


def _mark(decision: NetworkDecision) -> tuple[object, ...]:
    """Of what stays, and in which order."""
    orders = decision.schedules
    return tuple((name, orders.get(name)) for name in sorted(decision.settled.kept))


def write_folder(bench: Equipment, decision: NetworkDecision) -> Path:
    """The model with the kernels that stay, their library and programs, as a ZIP beside the run.

    Raises:
        StudioError: nothing stays, the kernels are others now, or the library cannot be built.
    """
    kept_names = decision.settled.kept
    bench.progress("writing the model", 0.1)
    run: OpenedRun = bench.run
    generated = bench.store.materialize(bench.model, run, run.result.steps)
    names = generated_names(generated)
    if not kept_names or not set(kept_names) <= set(names):
        raise StudioError(
            "The planner makes other kernels of this network now; race the network once more."
        )
    mark = hashlib.sha256(repr(_mark(decision)).encode()).hexdigest()[:16]
    isolate = partial(bench.pool, cancelled=bench.following.get("cancelled"))
    with tempfile.TemporaryDirectory(prefix="passlens-folder-") as draft:
        taken = Path(draft) / "taken.onnx"
        lost = [name for name in names if name not in kept_names]
        isolate(without_kernels, generated, lost, taken)
        ordered = Path(draft) / "ordered.onnx"
        isolate(with_schedules, taken, decision.schedules, ordered)
        bench.progress("compiling for every processor", 0.2)
        folder = Path(draft) / "kernels"
        export_kernels(ordered, folder, isolate=isolate)
        bench.progress("packing", 0.9)
        packed = shutil.make_archive(str(run.folder / f"kernels-{mark}"), "zip", folder)
    return Path(packed)
