"""Models of the gallery and random graphs that run, for tests that move and repeat nodes."""

from __future__ import annotations

import pytest

from optimizer.memory.registry import Budget
from optimizer.memory.sizes import KnownSizes
from optimizer.model.graph import Model
from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from studio.gallery.gallery import open_path
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.random_blocks import ALL_PATTERNS
from tests.optimizer.random_graphs import seeded
from tests.optimizer.running import Feeds, differences, feeds_for, run

UNHURRIED = Budget(seconds=1e9)
"""A search with it ends because it has seen everything."""


def of_gallery(model_id: str) -> Model:
    """A model of the gallery, with shapes."""
    model = load_path(open_path(model_id))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    return model


def ones(model: Model) -> dict[str, int]:
    """Size 1 for every free dimension."""
    return dict.fromkeys(KnownSizes(model.ir.graph).free, 1)


def random_model(seed: int) -> Model:
    """A random graph; the test is skipped where ONNX Runtime does not run it."""
    model = opened(seeded(seed, ALL_PATTERNS))
    source = proto_of(model.ir)
    try:
        run(source, feeds_for(source, seed=seed))
    except RuntimeError as error:
        pytest.skip(f"ONNX Runtime does not run the source: {error}")
    return model


def assert_equal_outputs(
    source: Model, other: Model, *, feeds: Feeds | None = None, seed: int = 0
) -> None:
    """Both models compute the same bytes.

    Args:
        source: runs on ONNX Runtime.
        other: made of it.
        feeds: what both are given; small random data without.
        seed: of the random data.
    """
    proto = proto_of(source.ir)
    given = feeds_for(proto, seed=seed) if feeds is None else feeds
    assert differences(run(proto, given), run(proto_of(other.ir), given), exact=True) == []
