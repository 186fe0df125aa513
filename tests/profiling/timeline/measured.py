"""The profile of one variant."""

from __future__ import annotations

from profiling.racing.race import Variant
from profiling.timeline.profile import Profile
from profiling.timeline.turns import profile_in_turns
from profiling.workers import WorkerPool


def measured(variant: Variant, *, pool: WorkerPool, runs: int) -> Profile:
    (found,) = profile_in_turns(
        [variant], pool=pool, runs=runs, progress=lambda _text, _share: None,
        cancelled=lambda: False,
    )  # fmt: skip
    if isinstance(found, Profile):
        return found
    raise found
