"""Measure what comes along: `python -m benchmarks.record_along OUT.passlens [MODEL] [--seconds S]`.

Races and profiles a sample network as the Run page does when nothing is changed there, and writes
both recordings into a bundle; those in `studio/recordings/` are packed with the studio. On a busy
machine the numbers are not worth packing: the recording says how busy it was.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from profiling.records import Recording
from profiling.records.bundle import bundle_bytes
from profiling.workers import WorkerPool, default_pool
from studio.artifacts.store import Store
from studio.experiment import Equipment
from studio.gallery import gallery
from studio.race.job import RACE_EXPERIMENT, RaceRequest, run_race
from studio.timeline.job import PROFILE_EXPERIMENT, ProfileRequest, run_profile
from studio.variants.chosen import chosen_of
from studio.variants.link import SECONDS
from studio.workspace import Workspace


def main() -> int:
    """Measure, then write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("model", nargs="?", default=gallery.SAMPLE)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    pool = default_pool()
    try:
        recordings = measured(pool, given.model, seconds=given.seconds)
    finally:
        pool.close()
    given.out.write_bytes(bundle_bytes(recordings))
    print(f"{given.out}: {given.out.stat().st_size:,} bytes")
    return 0


def measured(pool: WorkerPool, model_id: str, *, seconds: float) -> list[Recording]:
    """A race and a profile of a sample network, as the Run page makes them by default.

    Raises:
        StudioError: nothing runs.
    """
    store, workspace = Store(pool), Workspace(model=model_id)
    model = store.open_file(gallery.open_path(model_id), name=model_id)
    run = store.run(model, workspace.pipeline())
    chosen = chosen_of(workspace, last=int(run.result.steps))
    bench = Equipment(store, pool, (model, run), _say)
    race = run_race(bench, RaceRequest(chosen.asked, seconds))
    profile = run_profile(bench, ProfileRequest(chosen.asked[-1]))
    kept = RACE_EXPERIMENT.recording(race), PROFILE_EXPERIMENT.recording(profile)
    return [recording for recording in kept if recording is not None]


def _say(text: str, fraction: float) -> None:
    print(f"{100 * fraction:3.0f} % {text}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
