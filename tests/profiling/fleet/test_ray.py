"""Two simulated nodes with a pretended GPU each: what a cluster would do, on one machine."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from optimizer.errors import Cancelled, RunError
from profiling.config import RunConfig
from profiling.fleet.ray_cluster import RayExecutor
from profiling.racing.executor import RaceJob
from profiling.racing.measure import RacePlan
from profiling.racing.race import Variant
from tests.profiling.fleet.models import relu

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Ray's own warnings
RAY = pytest.importorskip("ray", reason="Ray is not installed")


def job(seconds: float, *, gpus: int | None = 1) -> RaceJob:
    variants = (Variant("a", relu()), Variant("b", relu()))
    return RaceJob(variants, RacePlan(runs=1_000_000, seconds=seconds), gpus=gpus)


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayExecutor]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    simulated: Any = importlib.import_module("ray.cluster_utils")
    nodes: Any = simulated.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "num_gpus": 0}
    )
    nodes.add_node(num_cpus=2, num_gpus=1)
    nodes.add_node(num_cpus=2, num_gpus=1)
    yield RayExecutor(nodes.address)
    ray: Any = RAY
    ray.shutdown()
    nodes.shutdown()


def test_each_race_has_a_gpu_and_a_node_of_its_own(cluster: RayExecutor) -> None:
    seen: list[int] = []
    outcomes = cluster.run([job(2.0), job(2.0)], observe=lambda number, _race: seen.append(number))
    assert [outcome.error for outcome in outcomes] == ["", ""]
    places = [outcome.location for outcome in outcomes]
    assert len({place.node_id for place in places if place is not None}) == 2
    assert all(place is not None and place.gpus == ("0",) for place in places)
    assert all(
        outcome.race is not None and outcome.race.timings[1].blocks_ms for outcome in outcomes
    )
    assert set(seen) == {0, 1}


def test_a_race_whose_worker_dies_is_run_again(cluster: RayExecutor) -> None:
    killed: list[int] = []

    def kill_once(_text: str, _fraction: float) -> None:
        if not killed:
            killed.append(_race_process())
            os.kill(killed[0], signal.SIGKILL)

    (outcome,) = cluster.run([job(3.0)], progress=kill_once)
    assert outcome.error == ""
    assert outcome.location is not None
    assert outcome.location.attempt == 2
    assert outcome.location.process != killed[0]


def test_a_failing_race_says_why(cluster: RayExecutor) -> None:
    broken = RaceJob((Variant("a", b"no model"),), RacePlan(runs=5, seconds=1.0))
    (outcome,) = cluster.run([broken])
    assert outcome.race is None
    assert outcome.error


def test_cancelling_ends_the_tasks(cluster: RayExecutor) -> None:
    began = threading.Event()
    with pytest.raises(Cancelled):
        cluster.run(
            [job(60.0)], progress=lambda _text, _fraction: began.set(), cancelled=began.is_set
        )
    deadline = time.monotonic() + 20
    while _race_processes() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert _race_processes() == []


def test_a_race_on_more_gpus_than_there_are_is_refused_at_once(cluster: RayExecutor) -> None:
    wanting = RaceJob((Variant("a", relu(), RunConfig(device="cuda")),), RacePlan(), gpus=3)
    with pytest.raises(RunError, match="GPU"):
        cluster.run([wanting])


def test_ray_is_not_imported_by_anything_else() -> None:
    import subprocess

    found = subprocess.run(
        [sys.executable, "-c", "import app, sys; print('ray' in sys.modules)"],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert found.stdout.strip().endswith("False")


def _race_processes() -> list[int]:
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::_race_task"):
            found.append(int(folder.name))
    return found


def _race_process() -> int:
    return _race_processes()[0]
