from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from profiling.kernels.generated.edge_cases import (
    LARGE,
    SIZES,
    SPECIAL_VALUES,
    planted,
    size_cases,
    special_cases,
)


def test_every_free_size_is_tried_at_every_edge() -> None:
    tried = [case.sizes for case in size_cases(["n", "m"], {"n": 128})]
    assert tried[0] == {"n": 128, "m": 5}
    for name in ("n", "m"):
        assert {*SIZES, LARGE} <= {sizes[name] for sizes in tried}
    assert {"n": 0, "m": 0} in tried
    assert {"n": 1, "m": 1} in tried


def test_a_kernel_without_free_sizes_has_one_case_of_sizes() -> None:
    assert [case.sizes for case in size_cases([], {})] == [{}]


def test_every_special_value_goes_into_every_input() -> None:
    cases = [*special_cases(["n"], ["x", "mask"])]
    assert {(case.planted, case.special) for case in cases} == {
        (name, special) for name in ("x", "mask") for special in SPECIAL_VALUES
    }
    assert str(cases[0]) == "n = 5 and NaN in x"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("special", SPECIAL_VALUES)
def test_a_special_value_stands_once_in_a_row_and_at_the_end(special: str, dtype: str) -> None:
    found = planted(np.full((7, 5), 2, dtype), special)
    changed = ~(found == 2)
    assert changed[-1, -1]
    assert changed.sum(axis=1).tolist() == [1, 0, 0, 1, 0, 0, 1]
    assert found.dtype.name == dtype
    number: Any = found[-1, -1]
    limits: Any = np.finfo(found.dtype)
    wanted = {
        "NaN": np.isnan(number), "+inf": number == np.inf, "-inf": number == -np.inf,
        "the largest number": number == limits.max, "the lowest number": number == limits.min,
        "a denormal number": 0 < number < limits.smallest_normal,
        "a negative denormal number": -limits.smallest_normal < number < 0,
        "0": number == 0 and not np.signbit(number), "-0": number == 0 and np.signbit(number),
    }  # fmt: skip
    assert wanted[special]


def test_nothing_is_planted_into_nothing() -> None:
    assert planted(np.zeros((0, 4), np.float32), "NaN").shape == (0, 4)
    assert np.isnan(planted(np.array(1.0, np.float32), "NaN"))
