"""`passlens layout --target PROFILE`: a model written with what a device has."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from optimizer.errors import StudioError, plain, quoted
from optimizer.graph_cost import GraphCost, graph_cost
from optimizer.hardware import shipped, text_of
from optimizer.layout.targets import TARGETS
from optimizer.legalisation import Legalised, legalise
from optimizer.numbers import bytes_text, counted
from optimizer.source import open_source
from optimizer.verify import Verification
from profiling.workers import default_pool
from studio.commands.models import bindings, model_path
from studio.commands.outcome import conclude
from studio.commands.output import table
from studio.commands.verify import verification_json

SCHEMA = "passlens.legalisation/1"


def run(arguments: argparse.Namespace) -> int:
    """Legalise, write, verify, report.

    Raises:
        StudioError: there is no such target, the profile has a fault, or the model may not be
            optimized.
    """
    wanted = arguments.target
    if wanted not in shipped() and not Path(wanted).is_file():
        raise StudioError(
            f"There is no target {quoted(Path(wanted))}; there are the layouts "
            f"{', '.join(TARGETS)}, the profiles {', '.join(shipped())}, and files of your own."
        )
    profile = text_of(wanted)
    path = model_path(arguments.model)
    model = open_source(path, isolate=default_pool(), bind=bindings(arguments.bind))
    before = graph_cost(model.ir.graph)
    found = legalise(model, profile)
    costs = before, graph_cost(model.ir.graph)
    return conclude(
        arguments, model, found.trace, document=partial(legalisation_json, found, costs),
        text=legalisation_text(found, costs),
    )  # fmt: skip


def legalisation_json(
    found: Legalised, costs: tuple[GraphCost, GraphCost], checked: Verification | None
) -> dict[str, Any]:
    """All of it as plain data."""
    before, after = costs
    return {
        "schema": SCHEMA,
        "model": found.trace.model_name,
        "profile": found.profile.name,
        "title": found.profile.title,
        "rewrites": found.trace.steps,
        "lowered": dict(_lowered(found).most_common()),
        "before": asdict(before),
        "after": asdict(after),
        "missing": [asdict(group) for group in found.missing],
        "verification": None if checked is None else verification_json(checked),
    }


def legalisation_text(found: Legalised, costs: tuple[GraphCost, GraphCost]) -> str:
    """What a person reads."""
    before, after = costs
    moved = [bytes_text(cost.bytes_read + cost.bytes_written) for cost in costs]
    left = sum(len(group.nodes) for group in found.missing)
    parts = [
        f"{plain(found.trace.model_name)} for {plain(found.profile.title)}",
        f"{before.nodes} -> {counted(after.nodes, 'node')}, "
        f"{counted(found.trace.steps, 'rewrite')}; {moved[0]} -> {moved[1]} read and written",
        f"{counted(left, 'node')} left that it has not" if left else "It has all operators now",
    ]
    if found.missing:
        rows = [
            [str(len(g.nodes)), plain(g.operator), plain(g.lack), plain(g.places[0]), plain(g.why)]
            for g in found.missing
        ]
        head = ["nodes", "operator", "what is lacking", "first", "why it was not lowered"]
        parts += ["", table([head, *rows], right=frozenset({0}))]
        if any("free in the file" in group.why for group in found.missing):
            parts.append("Give a size that is free in the file a number: --bind DIM=SIZE.")
    lowered = _lowered(found).most_common()
    if lowered:
        rows = [[str(count), name, plain(_first(found, name))] for name, count in lowered]
        parts += ["", table([["steps", "pass", "its first step"], *rows], right=frozenset({0}))]
    return "\n".join(parts)


def _first(found: Legalised, pass_id: str) -> str:
    """What the first step of a lowering says it does; nothing of other passes."""
    reason = next(step.reason for step in found.trace.rewrites if step.pass_id == pass_id)
    lacking, _, done = reason.partition(". ")
    return done if lacking.startswith(found.profile.title) else ""


def _lowered(found: Legalised) -> Counter[str]:
    return Counter(step.pass_id for step in found.trace.rewrites)
