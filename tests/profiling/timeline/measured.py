"""The profile of one variant."""

from __future__ import annotations

from profiling.racing.race import Variant
from profiling.timeline.interleaved import profile_interleaved
from profiling.timeline.profile import Profile
from profiling.workers import WorkerPool


def measured(variant: Variant, *, pool: WorkerPool, runs: int) -> Profile:
    (found,) = profile_interleaved(
        [variant], pool=pool, runs=runs, progress=lambda _text, _share: None,
        cancelled=lambda: False,
    )  # fmt: skip
    if isinstance(found, Profile):
        return found
    raise found
