from __future__ import annotations

import pytest

from optimizer.errors import Cancelled, RunError
from profiling.config import RunConfig
from profiling.racing.race import Variant
from profiling.timeline.interleaved import profile_interleaved
from profiling.timeline.profile import Profile
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model

TEXT = "g (float[64,64] x) => (float[64,64] y) {\n[a] b = MatMul(x, x)\n[c] y = Exp(b)\n}"
GOOD = Variant("good", model(TEXT))
BAD = Variant("bad", model(TEXT), RunConfig(thread_affinities="900", intra_threads=2))


@pytest.mark.thorough
def test_one_that_fails_leaves_its_error_and_the_others_go_on(shared_pool: WorkerPool) -> None:
    told: list[float] = []
    bad, good, fused = profile_interleaved(
        [BAD, GOOD, Variant("fused", model(TEXT), RunConfig(graph_optimization="all"))],
        pool=shared_pool,
        runs=4,
        progress=lambda text, fraction: told.append(fraction),
        cancelled=lambda: False,
    )
    assert isinstance(bad, RunError)
    assert "900" in bad.message
    for found in (good, fused):
        assert isinstance(found, Profile)
        assert [len(run.events) for run in found.timeline.runs] == [2] * 4
        assert found.kernels == {"a": ("a",), "c": ("c",)}
    assert told == sorted(told)


def test_cancelling_ends_it(shared_pool: WorkerPool) -> None:
    with pytest.raises(Cancelled):
        profile_interleaved(
            [GOOD], pool=shared_pool, runs=4, progress=lambda text, fraction: None,
            cancelled=lambda: True,
        )  # fmt: skip
