from __future__ import annotations

from typing import Any

import pytest

from profiling.config import RunConfig, options
from profiling.config.option import ConfigError, Option
from profiling.config.settings import find_option, from_settings, from_values, variations
from profiling.execution.session import config_entries, cuda_options, providers


def test_the_defaults_are_consistent_and_leave_the_file_as_it_is() -> None:
    assert RunConfig().graph_optimization == "disabled"
    assert RunConfig().changed() == {}


@pytest.mark.parametrize("option", options(), ids=lambda option: option.name)
def test_every_option_is_documented_and_its_default_is_allowed(option: Option) -> None:
    assert option.doc
    assert not option.doc.endswith(".")
    assert option.type in (bool, int, str)
    assert from_values({option.name: option.default}) == RunConfig()
    assert bool(option.choices) == (option.type is str)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("intra_thread=2", "did you mean intra_threads?"),
        ("xyzzy=1", "known are device"),
        ("intra_threads", "write OPTION=VALUE"),
        ("intra_threads=many", "whole number from 0 to 1024"),
        ("intra_threads=-1", "whole number from 0 to 1024"),
        ("spinning=maybe", "true or false"),
        ("device=tpu", "cpu or cuda"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(setting: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_settings([setting])
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["cuda_graph=true"], "set device=cuda"),
        (["tf32=no"], "set device=cuda"),
        (["execution_mode=parallel"], "set inter_threads=0"),
        (["inter_threads=4"], "set execution_mode=parallel"),
        (["execution_mode=parallel", "inter_threads=2"], "set memory_pattern=false"),
        (["spinning=on"], "set intra_threads=0"),
        (["gelu_approximation=1"], "set graph_optimization=extended"),
        (["device=cuda", "cuda_graph=1", "tune_kernels=1"], "while they are captured"),
    ],
)
def test_options_that_contradict_each_other_are_refused_with_the_remedy(
    settings: list[str], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        from_settings(settings)
    assert message in caught.value.message


def test_values_of_the_wrong_type_are_refused_by_the_config_itself() -> None:
    wrong: Any = "2"
    with pytest.raises(ConfigError, match="whole number"):
        RunConfig(intra_threads=wrong)
    with pytest.raises(ConfigError, match="whole number"):
        RunConfig(intra_threads=True)


def test_settings_are_read_in_the_option_type() -> None:
    config = from_settings(["intra_threads=0", "spinning=yes", "graph_optimization=all"])
    assert (config.intra_threads, config.spinning, config.graph_optimization) == (0, True, "all")
    assert config.changed() == {
        "graph_optimization": "all", "intra_threads": 0, "spinning": True,
    }  # fmt: skip


def test_varying_two_options_makes_every_combination() -> None:
    found = variations(RunConfig(), ["intra_threads=1,2", "memory_reuse=true,false"])
    assert [label for label, _ in found] == [
        "intra_threads=1, memory_reuse=true",
        "intra_threads=1, memory_reuse=false",
        "intra_threads=2, memory_reuse=true",
        "intra_threads=2, memory_reuse=false",
    ]
    assert len({config for _, config in found}) == 4


def test_varying_nothing_is_the_base_alone() -> None:
    assert variations(RunConfig(), []) == (("default", RunConfig()),)


def test_too_many_combinations_are_refused() -> None:
    numbers = ",".join(map(str, range(65)))
    with pytest.raises(ConfigError, match="65 combinations"):
        variations(RunConfig(), [f"intra_threads={numbers}"])


def test_cuda_options_have_the_names_of_the_runtime() -> None:
    config = from_settings(
        ["device=cuda", "cuda_graph=1", "convolution_search=heuristic", "gpu_memory_mib=512"]
    )
    written = cuda_options(config)
    assert written["enable_cuda_graph"] == "1"
    assert written["cudnn_conv_algo_search"] == "HEURISTIC"
    assert written["gpu_mem_limit"] == str(512 << 20)
    assert [entry[0] for entry in providers(config) if isinstance(entry, tuple)] == [
        "CUDAExecutionProvider"
    ]


def test_spinning_is_off_unless_asked_for() -> None:
    assert config_entries(RunConfig())["session.intra_op.allow_spinning"] == "0"


def test_an_option_can_be_found_by_name() -> None:
    assert find_option("tf32").group == "cuda"
