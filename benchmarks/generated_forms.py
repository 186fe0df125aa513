"""The files of a network that `benchmarks.generated` races, written and checked beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.generated_table import Network
from benchmarks.models import sizes_of
from benchmarks.peers import peer_forms
from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.pipeline import Pipeline
from optimizer.registry import Preset
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from optimizer.verify import jobs
from profiling.codegen.store import build_missing, code_version
from profiling.kernels.generated.decisions import KernelDecision, keep, kept
from profiling.kernels.generated.implementations import BUILDING
from profiling.kernels.generated.network import GENERATED, NetworkKernel, kernels_alone
from profiling.kernels.generated.placed import placed_kernels, sizes_run
from profiling.kernels.generated.racing import race_kernel
from profiling.kernels.generated.regions import regions_of
from profiling.kernels.generated.rivals import (
    UNFUSED,
    Rival,
    distinct,
    forms_of,
    unfused_config,
    usual_config,
)
from profiling.racing.measure import measure
from profiling.racing.plan import RacePlan
from profiling.racing.race import Race, Variant
from profiling.records import Records
from profiling.workers import default_pool

SOURCE = "source"
PRESETS: tuple[Preset, ...] = ("portable", "cpu")
MOST_RIVALS = 4
"""Of distinct forms, the fastest in a short race; all others are behind by more than its noise."""

_ALONE_S = 1.0
_CHECK_S = 3.0


@dataclass(frozen=True, slots=True)
class Form:
    """A form without kernels, as it is kept.

    Attributes:
        label: as in races.
        file: its name in the network's folder.
        same: labels of others that are the same graph in the runtime.
    """

    label: str
    file: str
    same: tuple[str, ...]

    def rival(self, folder: Path, threads: int) -> Rival:
        """It as it is raced."""
        config = (unfused_config if self.label.endswith(UNFUSED) else usual_config)(threads)
        return Rival(Variant(self.label, folder / self.file, config), self.same)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A network of which everything is written, built and checked.

    Attributes:
        code: hash of what wrote the kernels.
        forms: without kernels, those that are raced.
        slower: other forms, with the reason.
        kernels: all that were planned, those first that save most.
    """

    code: str
    forms: tuple[Form, ...]
    slower: tuple[str, ...]
    kernels: tuple[NetworkKernel, ...]


PREPARED = Format(Prepared, "passlens.prepared-network/1", "prepared network")


def prepared(network: Network, folder: Path, *, threads: int) -> Prepared:
    """What is there of a network, made where it is missing or by another version.

    Raises:
        StudioError: the network cannot be opened or optimized, or does not run.
    """
    file = folder / f"prepared-{threads}.json"
    if file.exists():
        found = PREPARED.loads(file.read_bytes())
        if found.code == code_version():
            return found
    folder.mkdir(parents=True, exist_ok=True)
    source = _source(network, folder)
    files = {SOURCE: source, **{preset: preset_form(preset, source) for preset in PRESETS}}
    refused: list[str] = []
    for name, problem in peer_forms(source, folder):
        if problem:
            refused.append(f"{name}: {problem}")
        else:
            files[name] = folder / f"{name}.onnx"
    rivals, wrong = distinct(forms_of(files, threads), pool=default_pool())
    refused += [f"{label}: {reason}" for label, reason in wrong.items()]
    kernels = _kernels(folder, threads)
    race = _short_race(rivals, folder, threads)
    chosen, slower = _fastest(rivals, race)
    made = Prepared(code_version(), chosen, (*slower, *refused), kernels)
    file.write_bytes(PREPARED.dumps(made))
    return made


def _source(network: Network, folder: Path) -> Path:
    """The file as it came, its free sizes bound."""
    target = folder / f"{SOURCE}.onnx"
    if not target.exists():
        model = load_path(network.path)
        write(complete(model, isolate=default_pool(), bind=sizes_of(model)).ir, target)
    return target


def preset_form(preset: Preset, source: Path) -> Path:
    """What a preset makes of a file, written beside it unless that is there.

    Raises:
        StudioError: the file cannot be opened or optimized.
    """
    target = source.with_name(f"{preset}.onnx")
    if not target.exists():
        model = complete(load_path(source), isolate=default_pool())
        optimize(model, Pipeline.of(preset), isolate=default_pool())
        write(model.ir, target)
    return target


def _kernels(folder: Path, threads: int) -> tuple[NetworkKernel, ...]:
    """Plan the kernels, build them, and have each checked and raced alone."""
    model = complete(load_path(folder / f"{SOURCE}.onnx"), isolate=default_pool())
    trace = optimize(model, Pipeline.of("generated"), isolate=default_pool())
    target = folder / f"{GENERATED}.onnx"
    write(model.ir, target)
    default_pool()(build_missing, target, "halide", limits=BUILDING)
    regions = regions_of(trace)
    sizes = sizes_run(target, {}, isolate=default_pool()) if regions else {}
    alone: dict[str, KernelDecision] = {}
    with Records(f"sqlite:///{folder.parent / 'records.sqlite'}") as records:
        for kernel in placed_kernels(target, model.ir.graph, sizes):
            known = kept(kernel.workload(threads).key, records)
            if known is None:
                known = race_kernel(kernel, pool=default_pool(), seconds=_ALONE_S, threads=threads)
                keep(known, records)
            alone[kernel.name] = known
    return kernels_alone(regions, alone)


def _short_race(rivals: Sequence[Rival], folder: Path, threads: int) -> Race:
    """Whether each computes the right thing, and which are far behind."""
    generated = Variant(GENERATED, folder / f"{GENERATED}.onnx", unfused_config(threads))
    plan = RacePlan(seconds=_CHECK_S * len(rivals), runs=1, request=jobs.Request(seeds=1))
    return measure([*(one.variant for one in rivals), generated], pool=default_pool(), plan=plan)


def _fastest(rivals: Sequence[Rival], race: Race) -> tuple[tuple[Form, ...], list[str]]:
    """The fastest right ones, in their order; and of all others how far behind they are.

    Raises:
        StudioError: none computes the right thing.
    """
    first = next((timing for timing in race.timings if timing.believable), None)
    if first is None or first.label == GENERATED:
        raise StudioError(f"No form of it runs: {race.verdict(race.timings[0].label)}")
    speeds: dict[str, float] = {first.label: 1.0}
    for timing in race.timings[:-1]:
        found = race.contrast(timing.label, baseline=first.label)
        if found is not None and timing.believable:
            speeds[timing.label] = found.speedup
    right = [one for one in rivals if one.label in speeds]
    chosen = sorted(right, key=lambda one: -speeds[one.label])[:MOST_RIVALS]
    best = chosen[0]
    told: list[str] = []
    for one in rivals:
        if one not in chosen:
            speed = speeds.get(one.label, 0.0)
            share = f"{speeds[best.label] / speed:.2f} of {best.label}" if speed else ""
            told.append(f"{one.label}: {share or race.verdict(one.label)}")
    return tuple(_form(one) for one in rivals if one in chosen), told


def _form(rival: Rival) -> Form:
    return Form(rival.label, Path(str(rival.variant.model)).name, rival.same)
