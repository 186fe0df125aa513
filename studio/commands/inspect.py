"""`passlens inspect`: what is in a model, and what is wrong with it."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from optimizer.errors import plain
from optimizer.findings import Finding, Status
from optimizer.numbers import FLOP_MEANS, amount_text, bytes_text, counted
from optimizer.source import open_source
from profiling.workers import WorkerPool
from studio.commands import DONE
from studio.commands.models import model_path
from studio.commands.output import print_json, table
from studio.graphview.summary import SUMMARY, ModelSummary, Port, summary_of

USES = ("viewable", "optimizable", "runnable")


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--json", action="store_true", help="machine-readable, to stdout")


def run(arguments: argparse.Namespace) -> int:
    """Open the model and print its summary.

    Raises:
        StudioError: it cannot be opened.
    """
    path = model_path(arguments.model)
    with contextlib.closing(WorkerPool(modules=())) as pool:
        summary = summary_of(open_source(Path(path), isolate=pool))
    if arguments.json:
        print_json(SUMMARY.to_json(summary))
    else:
        print(_text(summary))
    return DONE


def _text(summary: ModelSummary) -> str:
    opsets = ", ".join(f"{plain(d)} {v}" for d, v in summary.opsets.items())
    constants = summary.constant_nodes
    rows = [
        ["model", plain(summary.name)],
        ["producer", plain(summary.producer) or "unknown"],
        ["opsets", f"{opsets} (IR {summary.ir_version})"],
        [
            "nodes",
            f"{summary.nodes}" + (f" and {counted(constants, 'constant')}" if constants else ""),
        ],
        [
            "weights",
            f"{amount_text(summary.parameters)} in {bytes_text(summary.weight_bytes)}",
        ],
        ["work", f"{amount_text(summary.cost.flops, 'FLOP')} a run; {FLOP_MEANS}"],
        *[["input", _port(port)] for port in summary.inputs],
        *[["output", _port(port)] for port in summary.outputs],
        *[[name, _status(getattr(summary.statuses, name))] for name in USES],
    ]
    operators = [f"{plain(op)} {n}" for op, n in list(summary.operators.items())[:12]]
    rows.append(["operators", ", ".join(operators)])
    rows += [[f.severity, plain(_finding(f))] for f in summary.findings]
    return table(rows)


def _port(port: Port) -> str:
    return plain(f"{port.name}  {port.dtype} {port.shape or 'of unknown shape'}")


def _status(status: Status) -> str:
    return "yes" if status.ok else f"no: {plain(status.reason)}"


def _finding(finding: Finding) -> str:
    place = f"{finding.where}: " if finding.where else ""
    return f"{place}{finding.message} {finding.remedy}".strip()
