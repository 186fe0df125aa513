from __future__ import annotations

import numpy as np
import pytest

from benchmarks.kernel_models import KernelCase, cases
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.verify import jobs
from profiling.kernels.repeated import repeated
from profiling.workers import WorkerPool

CASES = cases()


def outputs_are_finite(model: bytes) -> bool:
    (run,) = jobs.run_reference(model, jobs.Request(seeds=1)).runs
    arrays = [array.astype(np.float64) for array in run.outputs.values()]
    return all(bool(np.isfinite(array).all()) for array in arrays)


def test_there_are_nine_families_with_names_of_their_own() -> None:
    assert len({case.family for case in CASES}) == 9
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES[1::3], ids=lambda case: case.name)
def test_a_case_runs_in_copies_and_stays_finite(case: KernelCase, shared_pool: WorkerPool) -> None:
    copies = to_bytes(repeated(load_bytes(case.model, name="case.onnx").ir, 2))
    assert shared_pool(outputs_are_finite, copies)
