"""A model written with what a device has, and what remains that it has not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from optimizer.hardware import HardwareProfile, MissingOperator, missing, profile_of
from optimizer.isolation import Progress
from optimizer.layout.formats import FIRST
from optimizer.limits import Limits
from optimizer.model.graph import Model
from optimizer.passes.layout.assign_layout import AssignLayout
from optimizer.passes.layout.cancel_conversions import CancelConversions
from optimizer.pipeline import Pipeline
from optimizer.registry import passes
from optimizer.rewrite.driver import Stop, optimize
from optimizer.rewrite.trace import Trace

COMPOSING = re.compile(
    "fuse-(matmul-add|transpose-matmul)|merge-extremes|reduce-strength|recognize-.*"
)
"""Passes of the preset `portable` that put together what is to be taken apart."""


@dataclass(frozen=True, slots=True)
class Legalised:
    """What became of a model.

    Attributes:
        profile: what the device has.
        trace: step by step.
        missing: what it has not, and why that was not lowered.
    """

    profile: HardwareProfile
    trace: Trace
    missing: tuple[MissingOperator, ...]


def legalising(option: str) -> Pipeline:
    """The passes that lower what a device lacks, and those that clean up between them.

    Where the device has operators in a layout of its own, layouts are assigned last.

    Args:
        option: the name of a shipped profile, or the text of a file.

    Raises:
        StudioError: it is no profile.
    """
    layout = profile_of(option).layout
    chosen: list[Any] = []
    for declared in passes():
        if declared.family == "lowering":
            chosen.append(declared(**{"profile": option}))
        elif "portable" in declared.presets and not COMPOSING.fullmatch(declared.id):
            chosen.append(declared())
    if layout != FIRST:
        chosen += [AssignLayout(option), CancelConversions()]
    return Pipeline(tuple(chosen), "none")


def legalise(
    model: Model,
    option: str,
    *,
    stop: Stop = Stop(),
    limits: Limits = Limits(),
    progress: Progress | None = None,
) -> Legalised:
    """Lower what a device lacks, in place.

    Args:
        model: complete: with its values and its shapes.
        option: the name of a shipped profile, or the text of a file.
        stop: when to end before.
        limits: the bounds in force.
        progress: told how far it is.

    Raises:
        StudioError: it is no profile, or the model may not be optimized.
        Cancelled: asked to stop.
    """
    pipeline = legalising(option)
    trace = optimize(model, pipeline, stop=stop, limits=limits, progress=progress)
    lowering = {p.id for p in pipeline.passes if p.family == "lowering"}
    why = {d.root: d.reason for d in trace.declined if d.pass_id in lowering}
    profile = profile_of(option)
    return Legalised(profile, trace, missing(model.ir.graph, profile, why))
