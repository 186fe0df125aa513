"""Who draws which recording: a line for each experiment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from optimizer.errors import StudioError
from profiling.records import Recording
from studio.capture.job import CAPTURE_EXPERIMENT
from studio.capture.report import show_capture
from studio.cost.ablation.job import ABLATION_EXPERIMENT
from studio.cost.ablation.page import show_ablation
from studio.cost.break_even.job import BREAK_EVEN_EXPERIMENT
from studio.cost.break_even.page import show_break_even
from studio.cost.waterfall.job import WATERFALL_EXPERIMENT
from studio.cost.waterfall.page import show_waterfall
from studio.experiment import Experiment
from studio.history.benchmark import show_benchmark
from studio.kernels.job import KERNELS_EXPERIMENT
from studio.kernels.report import show_kernels
from studio.race.job import RACE_EXPERIMENT
from studio.race.report import show_race
from studio.race.sweep.job import SWEEP_EXPERIMENT
from studio.race.sweep.page import show_sweep
from studio.timeline.job import PROFILE_EXPERIMENT
from studio.timeline.memory_page import show_profile

OPENERS: tuple[tuple[Experiment[Any, Any], Callable[[Any], None]], ...] = (
    (RACE_EXPERIMENT, show_race),
    (SWEEP_EXPERIMENT, show_sweep),
    (WATERFALL_EXPERIMENT, show_waterfall),
    (ABLATION_EXPERIMENT, show_ablation),
    (BREAK_EVEN_EXPERIMENT, show_break_even),
    (KERNELS_EXPERIMENT, show_kernels),
    (CAPTURE_EXPERIMENT, show_capture),
    (PROFILE_EXPERIMENT, show_profile),
)


def show_recording(recording: Recording) -> None:
    """A recording as on the page that made it.

    Raises:
        StudioError: no experiment of this version wrote it, or it is damaged.
    """
    if recording.kind == "benchmark":
        show_benchmark(recording.payload)
        return
    for experiment, show in OPENERS:
        if experiment.kind == recording.kind and experiment.form.reads(recording.payload):
            show(experiment.form.from_json(recording.payload))
            return
    raise StudioError(f"This version of Passlens cannot draw this {recording.kind}.")
