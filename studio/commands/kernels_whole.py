"""`passlens kernels --whole`: which kernels pay in the whole network, and the others taken back."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from optimizer.errors import plain
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.numbers import counted, three_digits
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.trace import Trace
from optimizer.source import complete
from profiling.codegen.store import code_version
from profiling.kernels.generated.deciding import PRESETS, SOURCE, NetworkForms, decide_together
from profiling.kernels.generated.decisions import KernelDecision
from profiling.kernels.generated.network import (
    NetworkDecision,
    finding,
    keep_network,
    kept_network,
    kernels_alone,
)
from profiling.kernels.generated.own_schedules import OwnSchedule
from profiling.kernels.generated.regions import regions_of
from profiling.records import Records
from profiling.workers import default_pool
from studio.commands.models import model_path
from studio.commands.output import table
from studio.commands.progress_line import progress_line
from studio.recordings.keeper import database_url


def decided(
    arguments: argparse.Namespace,
    trace: Trace,
    bound: Mapping[str, int],
    alone: Mapping[str, KernelDecision],
    generated: Path,
    *,
    own: Sequence[OwnSchedule] = (),
) -> NetworkDecision:
    """What is decided about the network: as it is kept, or raced now.

    Args:
        arguments: of the command.
        trace: that leads to the kernels.
        bound: sizes of free dimensions that were asked for.
        alone: decisions about its kernels.
        generated: the file with all of them.
        own: schedules of them that somebody keeps.

    Raises:
        StudioError: the network cannot be run.
    """
    digest = load_path(model_path(arguments.model)).digest
    with Records(database_url()) as records:
        known = kept_network(digest, records, threads=arguments.threads)
        wanted = kernels_alone(regions_of(trace), alone, own)
        fresh = known is not None and known.code == code_version() and known.sizes == bound
        if known is not None and fresh and known.has_orders_of(wanted) and not arguments.again:
            return known
        found = _raced(arguments, trace, bound, alone, generated, own)
        keep_network(found, digest, records)
    return found


def _raced(
    arguments: argparse.Namespace,
    trace: Trace,
    bound: Mapping[str, int],
    alone: Mapping[str, KernelDecision],
    generated: Path,
    own: Sequence[OwnSchedule],
) -> NetworkDecision:
    with progress_line() as progress:
        progress("writing the forms without kernels", 0.0)
        forms = NetworkForms(
            trace.model_name,
            _forms(arguments, bound, generated.parent),
            generated,
            generated.parent,
            bound,
        )
        return decide_together(
            forms,
            regions_of(trace),
            alone,
            own=own,
            pool=default_pool(),
            seconds=arguments.whole_seconds,
            threads=arguments.threads,
            progress=progress,
        )


def _forms(
    arguments: argparse.Namespace, bound: Mapping[str, int], folder: Path
) -> dict[str, Path]:
    """The source and what the presets make of it, by label."""
    source = complete(
        load_path(model_path(arguments.model)), isolate=default_pool(), bind=dict(bound)
    )
    files = {SOURCE: folder / "source.onnx"}
    write(source.ir, files[SOURCE])
    for preset in PRESETS:
        model = complete(load_path(files[SOURCE]), isolate=default_pool())
        optimize(model, Pipeline.of(preset), isolate=default_pool())
        files[preset] = folder / f"{preset}.onnx"
        write(model.ir, files[preset])
    return files


def report(decision: NetworkDecision) -> Iterator[str]:
    """For a person."""
    settled, first = decision.settled, decision.settled.first
    yield ""
    yield plain(f"Whole network: {finding(decision)}")
    rows = [
        [
            plain(timing.label),
            "" if timing.summary is None else three_digits(timing.summary.p50_ms),
            plain(_against(decision, timing.label)),
        ]
        for timing in first.timings
    ]
    text = table([["", "ms", f"against {settled.best}"], *rows], right=frozenset({1}))
    yield from (f"  {line}" for line in text.splitlines())
    for one in decision.kept():
        yield plain(f"  stays: {one.text}")
    for one, reason in decision.left_out():
        yield plain(f"  left out: {one.region.title}: {reason}")
    if settled.undecided:
        count = counted(len(settled.undecided), "kernel")
        yield f"  There was no time to ask about {count} apart; --whole-seconds gives more."


def _against(decision: NetworkDecision, label: str) -> str:
    settled = decision.settled
    if label == settled.best:
        return "the best without kernels"
    timing = next(one for one in settled.first.timings if one.label == label)
    found = settled.first.contrast(label, baseline=settled.best)
    if found is None or not timing.believable:
        return settled.first.verdict(label)
    return found.brief
