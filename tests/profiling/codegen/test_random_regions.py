"""Random regions as kernels: the loops in NumPy, code from C and from Halide, against ONNX Runtime.

What is right is the region run by ONNX Runtime without its optimizations.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from optimizer.limits import JobLimits
from optimizer.loops.building import NotGenerated
from optimizer.loops.scheduling import default_schedule
from profiling.codegen.kernel import GeneratorId
from profiling.codegen.levels import cpu_level
from profiling.codegen.library import build_library
from profiling.workers import WorkerPool
from tests.optimizer.fusion.regions import region_of
from tests.profiling.codegen.region_kernels import (
    RegionCase,
    drawn,
    faults,
    kernels_of,
    run_with_library,
)

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
    pytest.mark.long,
]
NEEDS_HALIDE = pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide")
GENERATORS = ["c", pytest.param("halide", marks=NEEDS_HALIDE)]
FEW, MANY = 6, 300
HOUR = JobLimits(seconds=3600.0, memory_bytes=8 << 30)


@pytest.fixture(scope="module")
def few() -> list[RegionCase]:
    return drawn(FEW)


@pytest.fixture(scope="module")
def many() -> list[RegionCase]:
    return drawn(MANY)


@pytest.mark.parametrize("generator", GENERATORS)
def test_no_kernel_of_six_random_regions_is_wrong(
    few: list[RegionCase], generator: GeneratorId, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    assert _wrong(few, generator, tmp_path, shared_pool) == []


@pytest.mark.slow
@pytest.mark.parametrize("generator", GENERATORS)
def test_no_kernel_of_three_hundred_random_regions_is_wrong(
    many: list[RegionCase], generator: GeneratorId, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    assert _wrong(many, generator, tmp_path, shared_pool) == []


def _wrong(
    cases: Sequence[RegionCase], generator: GeneratorId, folder: Path, pool: WorkerPool
) -> list[str]:
    """Every wrong element, of regions whole and as the planner parts them."""
    kernels = kernels_of(cases, generator)
    assert len(kernels) >= len(cases) / 2
    build = partial(build_library, levels=[cpu_level()])
    library = pool(build, kernels, folder, limits=HOUR)
    whole = [(case.call, [case.called(feeds) for _, feeds, _ in case.runs]) for case in cases]
    parts = [(case.planned, [feeds for _, feeds, _ in case.runs]) for case in cases]
    found = pool(run_with_library, library, [*whole, *parts], limits=HOUR)
    return [
        told
        for case, outputs in zip([*cases, *cases], found, strict=True)
        for told in faults(case, outputs)
    ]


def test_rows_of_nothing_that_are_joined_have_a_schedule() -> None:
    algorithm, _ = region_of(
        '<ir_version: 10, opset_import: ["" : 18]>\n'
        "g (float[0, 3] x) => (y) { y = Concat <axis = 0> (x, x) }"
    )
    assert default_schedule(algorithm)


def test_a_slice_that_counts_back_from_an_end_that_may_be_nearer_has_no_loops() -> None:
    text = '<ir_version: 10, opset_import: ["" : 18]>\n g (float[n] x) => (y)'
    bounds = "<int64[1] s = {-2}, int64[1] e = {1000}, int64[1] a = {0}>"
    with pytest.raises(NotGenerated, match="counts back from the end of an axis that may be"):
        region_of(f"{text} {bounds} {{ y = Slice(x, s, e, a) }}")
