"""The tour keeps its promise: every pass it was made for has something to do."""

from __future__ import annotations

import pytest

from optimizer.model.graph import Model
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.trace import Trace
from optimizer.source import open_source
from profiling.workers import default_pool
from studio import gallery

PROMISED = [
    "eliminate-common-subexpressions",
    "eliminate-dead-code",
    "eliminate-dropout",
    "eliminate-identity",
    "eliminate-noop-cast",
    "eliminate-noop-concat",
    "eliminate-noop-expand",
    "eliminate-noop-pad",
    "eliminate-noop-reshape",
    "eliminate-noop-resize",
    "eliminate-noop-slice",
    "eliminate-noop-split",
    "eliminate-noop-squeeze",
    "eliminate-noop-transpose",
    "eliminate-zero-dim-tensor",
    "fold-constants",
    "fold-shapes",
    "fuse-conv-activation",
    "fuse-conv-batch-norm",
    "fuse-conv-scale-shift",
    "fuse-gelu-runtime",
    "fuse-gemm-activation",
    "fuse-matmul-add",
    "fuse-pad-conv",
    "fuse-transpose-matmul",
    "merge-clips",
    "merge-duplicate-initializers",
    "merge-reshapes",
    "merge-transposes",
    "reassociate-constants",
    "recognize-layer-norm",
    "remove-unused-initializers",
    "share-shapes",
    "simplify-algebra",
    "split-sequences",
    "unwrap-matmul",
]


@pytest.fixture(scope="module")
def optimized(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Trace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PASSLENS_CACHE", str(tmp_path_factory.mktemp("cache")))
        model = open_source(gallery.open_path("tour"), isolate=default_pool())
    return model, optimize(model, Pipeline.of("runtime"))


@pytest.mark.parametrize("pass_id", PROMISED)
def test_the_tour_has_something_for(pass_id: str, optimized: tuple[Model, Trace]) -> None:
    _, trace = optimized
    assert pass_id in {rewrite.pass_id for rewrite in trace.rewrites}


def test_the_two_random_draws_are_never_merged(optimized: tuple[Model, Trace]) -> None:
    model, _ = optimized
    assert sum(node.op_type == "RandomUniformLike" for node in model.ir.graph) == 2


@pytest.mark.parametrize(
    ("pass_id", "reason"),
    [
        ("fuse-conv-batch-norm", "second consumer"),
        ("fuse-matmul-add", "matrices only"),
        ("eliminate-noop-cast", "may change values"),
    ],
)
def test_the_tour_has_a_near_miss_for(
    pass_id: str, reason: str, optimized: tuple[Model, Trace]
) -> None:
    _, trace = optimized
    assert [d for d in trace.declined if d.pass_id == pass_id and reason in d.reason]
