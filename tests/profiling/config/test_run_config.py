from __future__ import annotations

import dataclasses
import pickle
import re
from typing import Any

import pytest

from profiling.config import RunConfig, options
from profiling.config.option import SEPARATOR, ConfigError, Option, example
from profiling.config.settings import find_option, from_values, variations
from tests.profiling.settings import from_settings

NUMBERS = [option for option in options() if option.type is int]
CHOICES = [option for option in options() if option.choices]
LISTS = [option for option in options() if option.item]


def named(option: Option) -> str:
    return option.name


def test_the_defaults_are_consistent_and_leave_the_file_as_it_is() -> None:
    assert RunConfig().graph_optimization == "disabled"
    assert RunConfig().changed() == {}


@pytest.mark.parametrize("option", options(), ids=named)
def test_every_option_is_documented_and_its_default_is_allowed(option: Option) -> None:
    assert option.doc
    assert "\n" not in option.doc
    assert not option.doc.endswith(".")
    assert option.keys
    assert option.type in (bool, int, str)
    assert from_values({option.name: option.default}) == RunConfig()
    assert (bool(option.choices) != bool(option.item)) == (option.type is str)


@pytest.mark.parametrize("option", options(), ids=named)
def test_every_option_has_a_label_for_people_and_the_unit_that_its_name_tells(
    option: Option,
) -> None:
    assert option.label == option.label.strip()
    assert not re.search(r"[_=|+~]", option.label)
    assert option.label != option.name.replace("_", " ")
    suffixes = {"_mib": "MiB", "_us": "µs", "_ms": "ms"}
    told = next((unit for suffix, unit in suffixes.items() if option.name.endswith(suffix)), None)
    assert told is None or option.unit == told
    assert not option.unit or option.type is int
    assert option.title.endswith(option.unit)


def test_no_two_options_have_the_same_label() -> None:
    labels = [option.label for option in options()]
    assert len(set(labels)) == len(labels)


def test_options_stand_in_their_groups_in_order() -> None:
    groups = [option.group for option in options()]
    assert list(dict.fromkeys(groups)) == ["session", "cpu", "cuda", "tensorrt"]
    assert groups == sorted(groups, key=["session", "cpu", "cuda", "tensorrt"].index)


def test_a_config_is_a_value() -> None:
    config = RunConfig(device="cuda", cuda_graph=True)
    again = pickle.loads(pickle.dumps(config))  # noqa: S301 - our own
    assert again == config
    assert hash(again) == hash(config)
    assert dataclasses.replace(config, cuda_graph=False).changed() == {"device": "cuda"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.device = "cpu"  # pyright: ignore[reportAttributeAccessIssue] - that is the test


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("intra_thread=2", "did you mean intra_threads?"),
        ("trt_fp_16=1", "did you mean trt_fp16?"),
        ("prefer_nwhc=1", "did you mean prefer_nhwc?"),
        ("xyzzy=1", "passlens bench --help lists all"),
        ("intra_threads", "write OPTION=VALUE"),
        ("intra_threads=many", "whole number from 0 to 1024"),
        ("spinning=maybe", "true or false"),
        ("device=tpu", "cpu or cuda or tensorrt"),
        ("optimizers_off=ConstantFoldin", "did you mean ConstantFolding?"),
        ("optimizers_off=ReshapeFusion;ConstantFolding", "separate items by +"),
        ("optimizers_off=ReshapeFusion+ReshapeFusion", "name each once"),
        ("trt_tactics=CUDNN+MAGMA", "knows no 'MAGMA'"),
        ("trt_exclude=" + "+".join(f"Op{n}" for n in range(300)), "limit 1024"),
        ("thread_affinities=0", "each like 8"),
        ("trt_min_shapes=x:1x-3", "each like image:1x3x224x224"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(setting: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_settings([setting])
    assert message in caught.value.message


@pytest.mark.parametrize("option", NUMBERS, ids=named)
def test_a_number_beyond_its_bounds_is_refused(option: Option) -> None:
    assert option.low < option.high
    for beyond in (option.low - 1, option.high + 1):
        with pytest.raises(ConfigError, match=f"{option.name} cannot be '{beyond}'"):
            from_values({option.name: beyond})


@pytest.mark.parametrize("option", CHOICES, ids=named)
def test_a_choice_that_does_not_exist_is_refused(option: Option) -> None:
    with pytest.raises(ConfigError, match=f"{option.name} cannot be 'nothing of it'"):
        from_values({option.name: "nothing of it"})


def test_values_of_the_wrong_type_are_refused_by_the_config_itself() -> None:
    wrong: Any = "2"
    with pytest.raises(ConfigError, match="whole number"):
        RunConfig(intra_threads=wrong)
    with pytest.raises(ConfigError, match="whole number"):
        RunConfig(intra_threads=True)
    wrong = 2
    with pytest.raises(ConfigError, match="a list"):
        RunConfig(optimizers_off=wrong)


def test_settings_are_read_in_the_option_type() -> None:
    config = from_settings(["intra_threads=0", "spinning=yes", "graph_optimization=all"])
    assert (config.intra_threads, config.spinning, config.graph_optimization) == (0, True, "all")
    assert config.changed() == {
        "graph_optimization": "all", "intra_threads": 0, "spinning": True,
    }  # fmt: skip


def test_a_list_whose_separators_a_browser_turned_into_spaces_is_the_same_list() -> None:
    written = ["graph_optimization=all", "optimizers_off=ReshapeFusion+ConstantFolding"]
    arrived = [text.replace(SEPARATOR, " ") for text in written]
    assert from_settings(arrived) == from_settings(written)


@pytest.mark.parametrize("option", LISTS, ids=named)
def test_an_item_of_a_list_has_nothing_that_separates_settings(option: Option) -> None:
    item = example(option)
    for separator in ",=|&+~ ;\n":
        assert not re.fullmatch(option.item, item + separator)
        assert not re.fullmatch(option.item, item + separator + item)


def test_varying_two_options_makes_every_combination() -> None:
    found = variations({}, ["intra_threads=1,2", "memory_reuse=true,false"])
    assert [label for label, _ in found] == [
        "intra_threads=1, memory_reuse=true",
        "intra_threads=1, memory_reuse=false",
        "intra_threads=2, memory_reuse=true",
        "intra_threads=2, memory_reuse=false",
    ]
    assert len({from_values(values) for _, values in found}) == 4


def test_a_list_can_be_varied() -> None:
    base = {"graph_optimization": "all"}
    found = variations(base, ["optimizers_off=,ConstantFolding,ConstantFolding+ReshapeFusion"])
    assert [from_values(values).optimizers_off for _, values in found] == [
        "", "ConstantFolding", "ConstantFolding+ReshapeFusion",
    ]  # fmt: skip


def test_varying_nothing_is_the_base_alone() -> None:
    base = {"graph_optimization": "disabled"}  # set, although it is the default
    assert variations(base, []) == (("default", base),)


@pytest.mark.parametrize(("count", "fits"), [(64, True), (65, False)])
def test_there_are_64_combinations_at_most(count: int, *, fits: bool) -> None:
    varied = ["intra_threads=" + ",".join(map(str, range(count)))]
    if fits:
        assert len(variations({}, varied)) == count
        return
    with pytest.raises(ConfigError, match="65 combinations"):
        variations({}, varied)


def test_an_option_can_be_found_by_name() -> None:
    assert find_option("tf32").group == "cuda"
