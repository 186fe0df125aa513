from __future__ import annotations

import pytest

from profiling.config import RunConfig
from profiling.config.advice import SLOW_FUSIONS, advice, may_fuse
from profiling.config.question import config_for
from profiling.config.session import OPTIMIZERS

BOTH = "SkipLayerNormFusion+BiasGeluFusion"


def test_operators_that_are_slow_on_a_cpu_are_named_with_the_option_that_leaves_them_out() -> None:
    found = advice(config_for("deployed", {}), {"SkipLayerNormalization": 24, "BiasGelu": 12})
    assert found is not None
    assert found.changes == {"optimizers_off": BOTH}
    assert str(found) == (
        "ONNX Runtime's own rewrites put 24 SkipLayerNormalization and 12 BiasGelu in, which are "
        f"slow on a CPU: optimizers_off={BOTH} leaves that out."
    )


def test_what_is_left_out_already_stays_left_out() -> None:
    config = config_for("deployed", {"optimizers_off": "ConvAddFusion+BiasGeluFusion"})
    found = advice(config, {"SkipLayerNormalization": 2})
    assert found is not None
    assert found.changes == {"optimizers_off": "ConvAddFusion+BiasGeluFusion+SkipLayerNormFusion"}


@pytest.mark.parametrize(
    "config",
    [
        RunConfig(),
        RunConfig(graph_optimization="basic"),
        RunConfig(graph_optimization="all", optimizers_off=BOTH),
        RunConfig(graph_optimization="all", device="cuda"),
    ],
)
def test_where_the_runtime_does_not_fuse_so_there_is_nothing_to_say(config: RunConfig) -> None:
    assert not may_fuse(config)
    assert advice(config, {"BiasGelu": 12}) is None


def test_a_graph_without_such_operators_gets_no_advice() -> None:
    assert advice(config_for("deployed", {}), {}) is None


def test_what_is_left_out_are_rewrites_that_the_runtime_knows() -> None:
    assert {*SLOW_FUSIONS} <= {*OPTIMIZERS}
