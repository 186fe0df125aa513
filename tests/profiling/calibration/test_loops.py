"""A calibration as guesses about loops want it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from optimizer.cost.classes import OperatorClass
from optimizer.cost.device import Level, flat
from optimizer.cost.devices import X86_CORE
from optimizer.schedules.machine_model import USUAL
from profiling.calibration.loops import machine_here, with_rates


def test_bandwidths_and_products_are_those_that_were_measured() -> None:
    measured = replace(
        X86_CORE,
        levels=(Level("L2", 2 << 20, 90e9), Level("L3", 16 << 20, 40e9), Level("m", None, 9e9)),
        rates={OperatorClass.GEMM: flat(80e9)},
    )
    found = with_rates(USUAL, measured)
    assert [level.size_bytes for level in found.levels] == [32 << 10, 2 << 20, 16 << 20]
    assert [level.behind_bytes_per_s for level in found.levels] == [90e9, 40e9, 9e9]
    assert found.operation_ns == pytest.approx(0.2)  # eight lanes, two operations each
    assert measured.source in found.source


def test_without_a_calibration_the_rest_is_usual(tmp_path: Path) -> None:
    found = machine_here(tmp_path)
    assert found.levels == USUAL.levels
    assert found.threads >= 1
