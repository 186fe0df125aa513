from __future__ import annotations

import numpy as np
import pytest

from optimizer.model.writer import to_bytes
from profiling.config import RunConfig, Value
from profiling.config.settings import from_values
from profiling.kernels.generated.checking import Fault, first_fault, first_wrong
from profiling.kernels.generated.edge_cases import EdgeCase
from profiling.kernels.generated.racing import edge_cases
from profiling.kernels.generated.single import call_of
from profiling.workers import WorkerPool
from tests.profiling.kernels.generated.made import MASKED, body_of, kernel_of

ROUNDED = """g (float[n,8] x) => (float[n,8] y) {
    half = Cast <to = 10> (x)
    whole = Cast <to = 1> (half)
    y = Add (whole, whole)
}"""
BODY: dict[str, Value] = {"generated_kernels": "off", "graph_optimization": "all"}
NAN, INF = np.nan, np.inf


def test_the_runtimes_own_chain_is_right_on_all_edge_cases(shared_pool: WorkerPool) -> None:
    kernel = kernel_of(body_of(MASKED), n0=32)
    config = from_values(BODY, base=RunConfig())
    found = shared_pool(first_fault, to_bytes(call_of(kernel.body)), config, edge_cases(kernel))
    assert found.fault is None
    assert found.cases >= 25


def test_a_candidate_that_computes_something_else_is_told_by_its_first_wrong_element(
    shared_pool: WorkerPool,
) -> None:
    kernel = kernel_of(body_of(ROUNDED), n0=32)
    wrong = from_values({**BODY, "cast_chain_elimination": True}, base=RunConfig())
    found = shared_pool(first_fault, to_bytes(call_of(kernel.body)), wrong, edge_cases(kernel))
    assert found.fault is not None
    assert found.fault.output == "y0"
    assert len(found.fault.place) == 2
    assert str(found.fault).startswith("y0[")
    assert str(found.fault).endswith(f"with {found.fault.case}")


@pytest.mark.parametrize(
    ("found", "expected", "place"),
    [
        ([1.0, 2.0], [1.0, 2.00001], None),
        ([1.0, 2.0], [1.0, 2.1], (1,)),
        ([0.0, 2.0], [NAN, 2.0], (0,)),
        ([NAN, INF, -INF], [NAN, INF, -INF], None),
        ([NAN, INF], [NAN, -INF], (1,)),
        ([0.0], [1e-40], None),
        ([3e38], [INF], (0,)),
        ([-0.0], [0.0], None),
    ],
)
def test_numbers_are_right_within_rounding_and_special_ones_only_if_they_are_the_same(
    found: list[float], expected: list[float], place: tuple[int, ...] | None
) -> None:
    case = EdgeCase({"n": len(found)})
    arrays = ({"y": np.array(one, np.float32)} for one in (found, expected))
    fault = first_wrong(*arrays, scales={"y": 2.0}, case=case)
    assert (None if fault is None else fault.place) == place


@pytest.mark.parametrize(
    ("special", "found", "expected", "is_right"),
    [
        ("the largest number", NAN, -INF, True),
        ("the lowest number", INF, -INF, True),
        ("the largest number", NAN, -2e38, True),
        ("the largest number", 7.0, -INF, False),
        ("the largest number", NAN, 1e3, False),
        ("NaN", NAN, -INF, False),
        ("", NAN, -2e38, False),
    ],
)
def test_where_the_largest_numbers_overflow_is_a_matter_of_order_and_nothing_else(
    special: str, found: float, expected: float, is_right: bool
) -> None:
    given, right = np.array([1, found], np.float32), np.array([1, expected], np.float32)
    case = EdgeCase({}, "x0", special)
    fault = first_wrong({"y": given}, {"y": right}, scales={"y": 1.0}, case=case)
    assert (fault is None) is is_right


def test_another_shape_or_type_is_a_fault() -> None:
    case = EdgeCase({})
    floats, ints = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int64)
    assert first_wrong({"y": floats.T}, {"y": floats}, scales={}, case=case) == Fault(
        "y", (), "float32[3, 2]", "float32[2, 3]", case
    )
    other = first_wrong({"y": ints}, {"y": floats}, scales={}, case=case)
    assert str(other) == "y is int64[2, 3] instead of float32[2, 3]"
    assert first_wrong({"y": ints + 1}, {"y": ints}, scales={}, case=case) is not None
