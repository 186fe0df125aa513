"""`passlens optimize`: run a pipeline, write the model and its trace, check the outputs."""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import onnx_ir as ir

from optimizer.collection import collection_paused
from optimizer.errors import StudioError, plain, quoted
from optimizer.graph_cost import graph_cost
from optimizer.imported.own_rules import named_in, own_rules_allowed
from optimizer.isolation import Metered
from optimizer.model.graph import Model, count_nodes, walk_nodes
from optimizer.model.loader import load_path
from optimizer.model.new_file import check_room
from optimizer.model.placement import AUTO, Placement, needed_bytes, place
from optimizer.model.writer import weight_bytes, write
from optimizer.numbers import counted
from optimizer.pipeline_file import write_pipeline
from optimizer.registry import Exactness, is_imported
from optimizer.rewrite.driver import Stop, optimize
from optimizer.rewrite.near_misses import NearMisses, near_misses
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.trace_file import carried_bytes, save_trace
from optimizer.source import complete
from optimizer.verify import LOSSY, ErrorBudget, Verification, budget_of, verify
from optimizer.verify.memory import memory_problem
from optimizer.versions import versions
from profiling.workers import default_pool
from studio.commands import CHECK_FAILED, DONE
from studio.commands.models import bindings, model_path
from studio.commands.output import print_json, say
from studio.commands.pass_options import declare_pipeline, pipeline_of
from studio.commands.sixteen_bits import planned, verified, with_keep_list
from studio.commands.verify import verification_json

SCHEMA = "passlens.optimize/1"
_PROMISES: Mapping[Exactness, str] = {
    "exact": "each bit for bit",
    "reassociates": "each equal but for the rounding of floats",
    "lossy": "of which some give precision away",
}


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT")
    declare_pipeline(parser)
    parser.add_argument("--save-pipeline", type=Path, metavar="FILE", help="write the pipeline")
    parser.add_argument("--limit", type=int, metavar="N", help="stop after N rewrites")
    parser.add_argument("--bind", action="append", default=[], metavar="DIM=SIZE")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write the trace")
    parser.add_argument("--json", action="store_true", help="machine-readable, to stdout")
    parser.add_argument(
        "--budget",
        metavar="5%|25dB",
        help="error that lossy passes may make; see docs/precision.md",
    )
    parser.add_argument(
        "--external",
        default=AUTO,
        metavar="keep|copy|FILE",
        help="large weights stay in the source's data file, or go to a new one beside OUT",
    )
    parser.add_argument("--no-verify", action="store_true", help="do not compare the outputs")


@collection_paused()
def run(arguments: argparse.Namespace) -> int:
    """Optimize, write, verify, report.

    Raises:
        StudioError: the model cannot be opened or optimized, or an argument makes no sense.
    """
    path = model_path(arguments.model)
    pipeline = pipeline_of(arguments)
    budget = None if arguments.budget is None else budget_of(arguments.budget)
    bound = bindings(arguments.bind)
    model = load_path(path)
    _check_outputs(arguments, model, path)
    if not arguments.no_verify:
        pipeline = with_keep_list(pipeline, path, bound, budget)
    began, isolate = time.process_time(), Metered(default_pool())
    model = complete(model, isolate=isolate, bind=bound)
    shape_seconds = time.process_time() - began + isolate.seconds
    before = _figures(model)
    stop = Stop(limit=arguments.limit)
    with own_rules_allowed() if named_in(arguments.option) else nullcontext():
        trace = optimize(model, pipeline, stop=stop, isolate=default_pool())
    peak_rss_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    after = _figures(model)
    placement = place(model.ir, arguments.output, external=arguments.external, source=path)
    write(model.ir, arguments.output, placement=placement)
    if arguments.trace is not None:
        save_trace(Cursor.at_end(trace), arguments.trace)
    if arguments.save_pipeline is not None:
        write_pipeline(pipeline, arguments.save_pipeline)
    checked = None
    if not arguments.no_verify:
        half = planned(pipeline)
        checked = (
            _verify(path, arguments.output, trace, bound, budget)
            if half is None
            else verified(path, model, arguments.output, half, bindings=bound, budget=budget)
        )
    if arguments.json:
        measured = {"shape_seconds": shape_seconds, "peak_rss_bytes": peak_rss_bytes}
        print_json(
            _report(trace, before, after, checked) | {"weights": _told(placement)} | measured
        )
    _say(trace, before, after, checked)
    if text := str(placement):
        say(text)
    return CHECK_FAILED if (checked is not None and checked.failed) or trace.failed else DONE


def _check_outputs(arguments: argparse.Namespace, model: Model, path: Path) -> None:
    """Refuse what cannot be written before anything is, and before the work."""
    if not model.statuses.optimizable.ok:
        return  # which is said where it is optimized
    output, trace = arguments.output, arguments.trace
    placement = place(model.ir, output, external=arguments.external, source=path)
    if trace is not None:
        if not trace.parent.is_dir():
            raise StudioError(f"Cannot write {quoted(trace)}. Choose a folder you may write to.")
        needed, what = carried_bytes(model.ir), "The trace takes"
        if trace.parent.stat().st_dev == output.parent.stat().st_dev:
            needed, what = (
                needed + needed_bytes(placement, model.ir),
                "The model and its trace take",
            )
        check_room(trace.parent, needed, what)


def _told(placement: Placement) -> dict[str, Any]:
    files = [*placement.references.values(), *filter(None, [placement.side])]
    return {
        "inline_bytes": placement.inline_bytes,
        "referred_bytes": placement.referred_bytes,
        "side_bytes": placement.side_bytes,
        "files": sorted(files),
    }


def _figures(model: Model) -> dict[str, Any]:
    graph = model.ir.graph
    nodes = (n for n in walk_nodes(graph) if n.op_type != "Constant" or n.domain)
    operators = Counter(f"{n.domain}::{n.op_type}" if n.domain else n.op_type for n in nodes)
    return {
        "nodes": count_nodes(graph),
        "operators": dict(operators.most_common()),
        "cost": asdict(graph_cost(graph)),
    }


def _verify(
    source: Path, output: Path, trace: Trace, bound: dict[str, int], budget: ErrorBudget | None
) -> Verification:
    """Compare with the file as it came; exact passes must not change a bit, lossy ones not much."""
    if trace.state is not None and (problem := memory_problem(weight_bytes(trace.state.model))):
        return Verification("not_run", f"{problem} {_unrun(trace)}")
    return verify(
        source,
        output,
        isolate=default_pool(),
        exact=trace.exactness == "exact",
        budget=(budget or LOSSY) if trace.exactness == "lossy" else None,
        bindings=bound,
    )


def _unrun(trace: Trace) -> str:
    """What is known of a model that was not run."""
    cursor = Cursor.at_end(trace)
    ends = [_ends(cursor.seek(step)) for step in (0, trace.steps)]
    same = "are those of the source" if ends[0] == ends[1] else "differ from the source's"
    return (
        f"What was not run is what its passes promise: {counted(trace.steps, 'rewrite')}, "
        f"{_PROMISES[trace.exactness]}; inputs and outputs {same}."
    )


def _ends(model: ir.Model) -> list[tuple[str, str, str]]:
    values = (*model.graph.inputs, *model.graph.outputs)
    return [(value.name or "", str(value.type), str(value.shape)) for value in values]


def _report(
    trace: Trace, before: dict[str, Any], after: dict[str, Any], checked: Verification | None
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "model": trace.model_name,
        "pipeline": trace.pipeline,
        "before": before,
        "after": after,
        "rewrites": trace.steps,
        "passes": {key: asdict(timing) for key, timing in trace.timings.items()},
        "declined": len(trace.declined),
        "near_misses": [_near_miss(found, trace) for found in near_misses(trace.declined)],
        "failed": [asdict(failed) for failed in trace.failed],
        "inferred": [
            {"step": r.step, "pass": r.pass_id, "rule": r.rule, "confidence": r.inferred.confidence}
            for r in trace.rewrites
            if r.inferred is not None
        ],
        "seconds": trace.seconds,
        "stopped": trace.stopped,
        "versions": versions(),
        "verification": None if checked is None else verification_json(checked),
    }


def _near_miss(found: NearMisses, trace: Trace) -> dict[str, Any]:
    nodes = trace.state.nodes if trace.state is not None else {}
    return {
        "pass": found.pass_id,
        "reason": found.reason,
        "unlock": found.unlock,
        "count": len(found.places),
        "places": [
            {
                "node": match.root,
                "name": nodes[match.root].name or "" if match.root in nodes else "",
                "rule": match.rule,
                "detail": match.detail,
                "others": list(match.nodes),
                "round": match.round,
                "refused": match.refused,
            }
            for match in found.places
        ],
    }


def _say(
    trace: Trace, before: dict[str, Any], after: dict[str, Any], checked: Verification | None
) -> None:
    say(
        f"{plain(trace.model_name)}: {before['nodes']} -> {counted(after['nodes'], 'node')},"
        f" {counted(trace.steps, 'rewrite')}, {trace.seconds:.2f} s"
    )
    for declined in trace.declined:
        if is_imported(declined.pass_id):
            say(f"Pass '{declined.pass_id}' did nothing: {declined.reason}.")
    for failed in trace.failed:
        if is_imported(failed.pass_id):
            say(f"Pass '{failed.pass_id}': {failed.error}")
            continue
        place = trace.state.nodes[failed.root].name if trace.state is not None else failed.root
        say(
            f"Rule {failed.rule} of pass '{failed.pass_id}' failed at step {failed.step},"
            f" node {quoted(place or failed.root)}: {failed.error}."
            " That is a bug of the rule; it was undone, and the run went on without it."
        )
    if trace.stopped:
        say(trace.stopped)
    if checked is not None:
        say(str(checked))
