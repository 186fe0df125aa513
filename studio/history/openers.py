"""Who draws which kind of recording: one line a kind.

An opener draws a payload on the page. It need not fear wrong payloads: whatever it raises is caught
and the measurements are shown instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from profiling.records import Kind
from studio.capture.job import CAPTURE
from studio.capture.report import show_capture
from studio.cost.page import show_worth
from studio.history.benchmark import show_benchmark
from studio.kernels.job import kernels_from_payload
from studio.kernels.report import show_kernels
from studio.race.job import race_from_payload
from studio.race.report import show_race
from studio.race.sweep.job import sweep_from_payload
from studio.race.sweep.page import show_sweep
from studio.timeline.report import show_profile
from studio.timeline.result import profile_from_payload

Opener = Callable[[Mapping[str, Any]], None]

OPENERS: dict[Kind, Opener] = {
    "race": lambda payload: show_race(race_from_payload(payload)),
    "sweep": lambda payload: show_sweep(sweep_from_payload(payload)),
    "worth": show_worth,
    "kernels": lambda payload: show_kernels(kernels_from_payload(payload)),
    "capture": lambda payload: show_capture(CAPTURE.from_json(payload)),
    "profile": lambda payload: show_profile(profile_from_payload(payload)),
    "benchmark": show_benchmark,
}
