"""`passlens why`: which passes looked at a node, and what each of them said."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from optimizer.errors import plain, quoted
from optimizer.registry import find
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.named_nodes import node_called
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.trace_file import open_trace
from optimizer.rewrite.why import Look, Why, why
from optimizer.source import open_source
from profiling.workers import default_pool
from studio.commands import DONE
from studio.commands.models import bindings, model_path
from studio.commands.output import print_json, table
from studio.commands.pass_options import declare_pipeline, pipeline_of

SCHEMA = "passlens.why/1"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("model", metavar="MODEL", help="or a trace, which has its own pipeline")
    parser.add_argument("node", metavar="NODE", help="its name, the name of an output, or its id")
    declare_pipeline(parser)
    parser.add_argument("--bind", action="append", default=[], metavar="DIM=SIZE")
    parser.add_argument("--json", action="store_true", help="machine-readable, to stdout")


def run(arguments: argparse.Namespace) -> int:
    """Run the pipeline, or open its trace, and print what was said of the node.

    Raises:
        StudioError: the model cannot be optimized, or there is no such node.
    """
    trace, state = _traced(arguments)
    found = why(trace, node_called(state, arguments.node))
    if arguments.json:
        print_json({"schema": SCHEMA, "model": trace.model_name, **_document(found, state)})
    else:
        print(_text(found, state))
    return DONE


def _traced(arguments: argparse.Namespace) -> tuple[Trace, GraphState]:
    """The trace of the run that is asked for, and the graph at its end."""
    if Path(arguments.model).suffix == ".trace":
        cursor = open_trace(Path(arguments.model))
        cursor.seek(cursor.trace.steps)
        cursor.trace.state = cursor.state
        return cursor.trace, cursor.state
    path, pipeline = model_path(arguments.model), pipeline_of(arguments)
    model = open_source(path, isolate=default_pool(), bind=bindings(arguments.bind))
    trace = optimize(model, pipeline, isolate=default_pool())
    assert trace.state is not None
    return trace, trace.state


def _document(found: Why, state: GraphState) -> dict[str, Any]:
    """All of it, and the names of the nodes that it speaks of."""
    spoken = [found.node, *found.fate.into, *found.origins]
    for look in found.looks:
        spoken += [look.root, *look.nodes, *(look.became.into if look.became else ())]
    names = {identity: _name(state, identity) for identity in dict.fromkeys(spoken) if identity}
    return {**asdict(found), "names": names}


def _text(found: Why, state: GraphState) -> str:
    node, fate = _called(state, found.node), found.fate
    lines = [f"{node} ({found.node}): {_fate(found, state)}."]
    if len(found.origins) > 1 or found.origins[:1] != (found.node,):
        lines.append(f"Does the work of {_listed(state, found.origins)}.")
    rows = [_row(look, found, state) for look in found.looks]
    if rows:
        lines += ["", table([["round", "step", "pass", "said"], *rows], right=frozenset({0, 1}))]
    lines += _unasked(found)
    if found.stopped:
        lines.append(plain(found.stopped))
    if not fate.step and not rows:
        lines.append("No pass of this run looked at it.")
    return "\n".join(lines)


def _fate(found: Why, state: GraphState) -> str:
    """What became of it, after its name."""
    fate, into = found.fate, _listed(state, found.fate.into)
    at = f"at step {fate.step}"
    match fate.kind:
        case "kept":
            return "kept to the end" + (f", also part of {into}" if into else "")
        case "merged":
            return f"gone {at}, its work is done by {into}"
        case "bypassed":
            return f"gone {at}, its readers take {into}"
        case "folded":
            return f"gone {at}, folded into a constant"
        case "dead":
            return f"gone {at}, nothing read it any more"


def _row(look: Look, found: Why, state: GraphState) -> list[str]:
    said = [plain(look.reason)] if look.reason else []
    if look.became is not None and look.became.into:
        said.insert(0, f"{look.became.kind}, now {_listed(state, look.became.into)}")
    if look.root not in ("", found.node) and look.verdict != "made":
        said.append(f"asked about {_called(state, look.root)}")
    if look.unlock:
        said.append(plain(look.unlock))
    words = f"{look.verdict} {look.rule}".rstrip() + (": " if said else "")
    step = "" if look.step is None else str(look.step)
    return [str(look.round or ""), step, look.pass_id, words + " · ".join(said)]


def _unasked(found: Why) -> list[str]:
    """Passes that might have said something, and did not run; or that there are none."""
    if not found.known:
        return [f"No rule of any pass is for operator {plain(found.operator)}."]
    titles = [f"{identity} ({p.title()})" for identity in found.off if (p := find(identity))]
    if not titles:
        return []
    return [f"Not in this run, with rules for {plain(found.operator)}: {', '.join(titles)}."]


def _listed(state: GraphState, identities: tuple[str, ...], most: int = 4) -> str:
    shown = ", ".join(_called(state, identity) for identity in identities[:most])
    more = len(identities) - most
    return f"{shown} and {more} more" if more > 0 else shown


def _called(state: GraphState, identity: str) -> str:
    """A node by operator and name; a value by what it is."""
    node = state.nodes.get(identity)
    if node is not None:
        return f"{plain(node.op_type)} {quoted(node.name or identity)}"
    value = state.values.get(identity)
    kind = "constant" if value is not None and value.const_value is not None else "input"
    return f"{kind} {quoted(_name(state, identity))}"


def _name(state: GraphState, identity: str) -> str:
    known = state.nodes.get(identity) or state.values.get(identity)
    return known.name if known is not None and known.name else identity
