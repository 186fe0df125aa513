"""How long every node of a model takes in its fastest runs, in a worker process."""

from __future__ import annotations

import tempfile
from pathlib import Path

from optimizer.verify.jobs import Request
from profiling.calibration import CALIBRATED
from profiling.calibration.micro import Micro, model_of
from profiling.calibration.timing import fastest_quarter, node_times
from profiling.timeline.recorder import Recorder

_WARM_RUNS = 2


def record(path: Path, runs: int) -> dict[str, float]:
    """In the worker: microseconds of each node, the mean of its fastest quarter of runs.

    What the profiler takes is taken off.

    What the first session of a process says about small numbers holds for all.
    """
    node_times(model_of(Micro("Neg", ((1,),))), CALIBRATED, runs=1)
    with tempfile.TemporaryDirectory() as folder:
        request = Request(seeds=1)
        recorder = Recorder(path, CALIBRATED, request, folder=Path(folder), bare=True)
        for _ in range(runs + _WARM_RUNS):
            recorder.run()
        profile = recorder.finish(usual=fastest_quarter)
    times: dict[str, list[float]] = {}
    for run in map(profile.bare, profile.timeline.runs[_WARM_RUNS:]):
        spent: dict[str, float] = {}
        for event in run.events:
            spent[event.node] = spent.get(event.node, 0) + event.duration_us
        for name, us in spent.items():
            times.setdefault(name, []).append(us)
    return {name: fastest_quarter(us) for name, us in times.items()}
