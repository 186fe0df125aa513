"""Options survive being put into a link."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import pytest

from profiling.config import RunConfig
from tests.profiling.settings import from_settings

CONFIGS = [
    ["graph_optimization=all", "optimizers_off=ConstantFolding+ReshapeFusion"],
    ["intra_threads=3", "thread_affinities=1+2-3", "spinning=on", "spin_backoff=8"],
    ["device=cuda", "nbits_gemm=1", "nbits_rows=1+16", "convolution_search=heuristic"],
    [
        "device=tensorrt", "trt_tactics=CUDNN+JIT_CONVOLUTIONS", "trt_min_shapes=a.b/c:1x3+d:2",
        "trt_best_shapes=a.b/c:2x3+d:2", "trt_max_shapes=a.b/c:4x3+d:2", "trt_auxiliary_streams=0",
    ],
]  # fmt: skip


@pytest.mark.parametrize("settings", CONFIGS, ids=lambda settings: settings[0])
@pytest.mark.parametrize("escaped", [True, False])
def test_a_link_with_options_means_the_same_again(settings: list[str], *, escaped: bool) -> None:
    config = from_settings(settings)
    text = ",".join(f"{name}={value}" for name, value in config.changed().items())
    link = urlencode({"set": text}) if escaped else f"set={text}"  # as typed: + means a space
    arrived = dict(parse_qsl(link))["set"]
    assert from_settings(arrived.split(",")) == config
    assert config != RunConfig()
