from __future__ import annotations

import json

import pytest

from optimizer.errors import StudioError
from profiling.config import RunConfig
from profiling.racing.race import Variant
from profiling.timeline.events import Event, Memory, Run, Timeline
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.profile import Profile, profile
from profiling.timeline.profile_json import profile_from_json, profile_to_json
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model

EVENT = Event(
    "a", "Conv", "CPUExecutionProvider", 3, 4, 7, 0, 10, 20, 30, None, 5, ((0, 1), (9, 0))
)
CHANGES: list[dict[str, object]] = [{"schema": "passlens.race/1"}, {"runs": [0]}, {"kernels": 3}]
RUN = Run(1, 20, (EVENT, Event("b", "Relu", "", 8, 1, 7, 1, 1, 2, 3, Memory(9, 8, 7, 6))), 2, 15)


def test_everything_in_a_profile_comes_back() -> None:
    curve = MemoryCurve("runtime", (6, 8), (1, 2), (3, 4), (5, 6), 7, 8)
    made = Profile(Timeline(1, 2, (RUN, Run(30, 1, ()))), (curve,), {"a": ("x", "y"), "b": ()})
    assert profile_from_json(json.loads(json.dumps(profile_to_json(made)))) == made


def test_a_real_profile_comes_back(shared_pool: WorkerPool) -> None:
    made = profile(
        Variant(
            "v", model("g (float[64,64] x) => (float[64,64] y) {\n[one] y = MatMul(x, x)\n}"),
            RunConfig(intra_threads=2),
        ),
        isolate=shared_pool,
        runs=2,
    )  # fmt: skip
    assert profile_from_json(json.loads(json.dumps(profile_to_json(made)))) == made
    assert made.timeline.runs[0].events[0].workers
    assert made.timeline.runs[0].executor_us > 0


@pytest.mark.parametrize("change", CHANGES)
def test_something_else_is_refused(change: dict[str, object]) -> None:
    data = {**profile_to_json(Profile(Timeline(0, 0, ()), ())), **change}
    with pytest.raises(StudioError, match="recorded profile"):
        profile_from_json(data)
