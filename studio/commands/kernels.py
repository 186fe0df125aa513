"""`passlens kernels`: the regions of a model that get code, their candidates, and what won."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optimizer.errors import StudioError, plain
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.numbers import counted, three_digits, times_text
from optimizer.operators.generated import GENERATED
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.edits import InsertNode
from optimizer.rewrite.trace import Trace
from optimizer.source import complete
from profiling.kernels.generated.deciding import Shelf, decide_kernels
from profiling.kernels.generated.decisions import DECISION, KernelDecision, finding, keep, kept
from profiling.kernels.generated.network import NETWORK, NetworkDecision
from profiling.kernels.generated.network import finding as network_finding
from profiling.kernels.generated.own_schedules import kept_own, older_own
from profiling.kernels.generated.placed import PlacedKernel, placed_kernels, sizes_run
from profiling.kernels.selection import CandidateRow
from profiling.records import Records
from profiling.workers import default_pool
from studio.commands import DONE
from studio.commands import kernels_whole as whole
from studio.commands.kernels_taken import export, taken_along
from studio.commands.models import bindings, model_path
from studio.commands.output import print_json, say, table
from studio.commands.progress_line import progress_line
from studio.export.kernels import check_folder
from studio.recordings.keeper import database_url

SCHEMA = "passlens.kernel-decisions/1"
PASS = "generate-kernels"  # noqa: S105 no password
_LONGEST_S = 600.0
_GENERATED = "generated.onnx"


@dataclass(frozen=True, slots=True)
class Planned:
    """The kernels of a model.

    Attributes:
        trace: that leads to them.
        kernels: with the sizes they have there.
        reasons: name of a kernel -> what it gains on paper.
    """

    trace: Trace
    kernels: tuple[PlacedKernel, ...]
    reasons: Mapping[str, str]


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("model", metavar="MODEL")
    add("--bind", action="append", default=[], metavar="DIM=SIZE", help="settle a free dimension")
    add("--list", action="store_true", help="say which regions there are, and race nothing")
    add("--again", action="store_true", help="race also what was decided on this machine before")
    add("--threads", type=int, default=1, metavar="N", help="of a session; 1 by default")
    add("--seconds", type=float, default=4.0, metavar="S", help="for the race of one kernel")
    what = "race the network with the kernels that do not lose alone; take back what does not pay"
    add("--whole", action="store_true", help=what)
    what = "for all races of the network, by the clock; 60 by default"
    add("--whole-seconds", type=float, default=60.0, metavar="S", help=what)
    what = (
        "write the model, its kernels that won (with --whole: in the network; with --list: all) "
        "and programs that run both"
    )
    add("-o", "--output", type=Path, metavar="FOLDER", help=what)
    add("--json", action="store_true", help="machine-readable, to stdout")


def run(arguments: argparse.Namespace) -> int:
    """Plan the kernels of the model, decide about each, and report.

    Raises:
        StudioError: the model cannot be opened, optimized or run.
    """
    _check(arguments)
    with tempfile.TemporaryDirectory(prefix="passlens-kernels-") as folder:
        planned = planned_kernels(arguments.model, arguments.bind, Path(folder))
        model = Path(folder) / _GENERATED
        if not arguments.list:
            planned = _with_own(arguments.model, planned)
        decisions = {} if arguments.list else _decisions(arguments, planned)
        network = None
        if arguments.whole:
            own = [one for kernel in planned.kernels for one in kernel.own]
            network = whole.decided(
                arguments, planned.trace, bindings(arguments.bind), decisions, model, own=own
            )
        if arguments.json:
            print_json(_document(planned, decisions, network))
        else:
            for line in _told(planned, decisions, network):
                print(line)
        if arguments.output is not None:
            export(model, arguments.output, taken_along(planned.kernels, decisions, network))
    return DONE


def _check(arguments: argparse.Namespace) -> None:
    """Whether what is asked for is possible.

    Raises:
        StudioError: it is not.
    """
    times = (arguments.seconds, arguments.whole_seconds)
    if not all(0 < one <= _LONGEST_S for one in times) or arguments.threads < 1:
        raise StudioError(
            "--threads is 1 or more, --seconds and --whole-seconds above 0 and "
            f"{_LONGEST_S:g} at most."
        )
    if arguments.whole and arguments.list:
        raise StudioError("--list races nothing, and --whole is a race; ask for one of them.")
    if arguments.output is not None:
        check_folder(arguments.output)


def planned_kernels(model_file: str, bind: list[str], folder: Path) -> Planned:
    """The kernels of a model, which is written into a folder with them.

    Args:
        model_file: as on the command line, and so is `bind`.
        bind: sizes of free dimensions.
        folder: gets the model with its generated functions.

    Raises:
        StudioError: the model cannot be opened or optimized, or runs on no sizes.
    """
    source, bound = model_path(model_file), bindings(bind)
    with progress_line() as progress:
        progress("planning kernels", 0.0)
        model = complete(load_path(source), isolate=default_pool(), bind=bound)
        trace = optimize(model, Pipeline.of("generated"), isolate=default_pool(), progress=progress)
        target = folder / _GENERATED
        write(model.ir, target)
        progress("looking for sizes", 0.9)
        sizes = sizes_run(target, bound, isolate=default_pool())
        kernels = tuple(placed_kernels(target, model.ir.graph, sizes))
    reasons: dict[str, str] = {}
    for rewrite in trace.rewrites:
        for edit in rewrite.edits:
            if isinstance(edit, InsertNode) and edit.domain == GENERATED:
                reasons.setdefault(edit.op_type, rewrite.reason)
    return Planned(trace, kernels, reasons)


def _decisions(arguments: argparse.Namespace, planned: Planned) -> dict[str, KernelDecision]:
    """What is decided about each kernel: as it is kept, or raced now."""
    with Records(database_url()) as records, progress_line() as progress:
        shelf = Shelf(
            lambda key: None if arguments.again else kept(key, records),
            lambda decision: keep(decision, records),
        )
        return decide_kernels(
            planned.kernels,
            shelf,
            pool=default_pool(),
            seconds=arguments.seconds,
            threads=arguments.threads,
            progress=progress,
        )


def _with_own(model_file: str, planned: Planned) -> Planned:
    """The kernels with the schedules that somebody keeps of them; what is of no use is said."""
    source = load_path(model_path(model_file)).digest
    names = [one.name for one in planned.kernels]
    with Records(database_url()) as records:
        kernels = tuple(replace(one, own=kept_own(one.name, records)) for one in planned.kernels)
        for old in older_own(source, names, records):
            say(plain(f"{old.text}: this model does not have that region any more."))
    return replace(planned, kernels=kernels)


def _told(
    planned: Planned, decisions: Mapping[str, KernelDecision], network: NetworkDecision | None
) -> Iterator[str]:
    yield from _text(planned, decisions)
    if network is not None:
        yield from whole.report(network)


def _text(planned: Planned, decisions: Mapping[str, KernelDecision]) -> Iterator[str]:
    """For a person."""
    places = sum(len(kernel.places) for kernel in planned.kernels)
    yield f"{counted(len(planned.kernels), 'kernel')} in {counted(places, 'place')}"
    for kernel in planned.kernels:
        yield ""
        operators = kernel.workload(1).title
        yield plain(f"{kernel.name}: {operators}, {counted(len(kernel.places), 'place')}")
        yield plain(f"  {planned.reasons.get(kernel.name, '')}")
        decision = decisions.get(kernel.name)
        if decision is not None:
            yield plain(f"  {finding(decision)}")
            rows = [_cells(row, decision.copies) for row in decision.raced.rows()]
            text = table([["", "µs", "times as fast", ""], *rows], right=frozenset({1, 2}))
            yield from (f"    {line}" for line in text.splitlines())
    refused = [one for one in planned.trace.declined if one.pass_id == PASS]
    if refused:
        yield ""
        yield f"Left as they are, {counted(len(refused), 'place')}:"
        counts: dict[str, int] = {}
        for one in refused:
            counts[one.condition] = counts.get(one.condition, 0) + 1
        for condition, count in sorted(counts.items(), key=lambda item: -item[1]):
            yield plain(f"  {count} × {condition}")


def _cells(row: CandidateRow, copies: int) -> list[str]:
    """A candidate: of one copy, its time, and against the runtime's best form."""
    time = "" if row.p50_ms is None else three_digits(1000 * row.p50_ms / copies)
    against = "" if row.contrast is None else times_text(row.contrast.speedup)
    return [plain(row.candidate.label), time, against, plain(row.verdict)]


def _document(
    planned: Planned, decisions: Mapping[str, KernelDecision], network: NetworkDecision | None
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "model": planned.trace.model_name,
        "kernels": [
            {
                "name": kernel.name,
                "operators": list(kernel.workload(1).operators),
                "places": [list(place) for place in kernel.places],
                "sizes": dict(kernel.sizes),
                "reason": planned.reasons.get(kernel.name, ""),
                "decision": _decided(decisions.get(kernel.name)),
            }
            for kernel in planned.kernels
        ],
        "network": None
        if network is None
        else {"finding": network_finding(network), **NETWORK.to_json(network)},
        "declined": [
            {"node": one.root, "nodes": list(one.nodes), "reason": one.reason}
            for one in planned.trace.declined
            if one.pass_id == PASS
        ],
    }


def _decided(decision: KernelDecision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {"finding": finding(decision), "winner": decision.winner, **DECISION.to_json(decision)}
