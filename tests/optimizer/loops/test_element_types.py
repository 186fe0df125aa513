"""An algorithm as a worker sends it."""

from __future__ import annotations

import pickle

import pytest

from optimizer.loops.element_types import with_numbers, with_types
from optimizer.schedules.examples import EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_algorithm_comes_back_and_needs_no_classes_but_ours_on_its_way(example: str) -> None:
    algorithm = EXAMPLES[example].algorithm
    sent = pickle.dumps(with_numbers(algorithm))
    assert b"onnx_ir" not in sent
    assert with_types(pickle.loads(sent)) == algorithm  # noqa: S301 our own
