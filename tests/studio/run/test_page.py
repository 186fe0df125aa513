"""The Run page without a browser: its links, and the variants that it races."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from profiling.config import RunConfig, options
from profiling.config.option import ConfigError, check_value
from profiling.config.question import ALL_AS
from studio.link import from_link, to_link
from studio.variants.chosen import chosen_of
from studio.variants.link import (
    DEFAULT,
    LAST,
    SOURCE,
    RunChoice,
    SweepChoice,
    VariantChoice,
    sizes_of,
)
from studio.variants.options import other_value
from studio.variants.problem import with_labels
from studio.variants.sets import gpu_sets, sets_of
from studio.variants.variant import LAST as LAST_STEP
from studio.variants.variant import TraceVariant
from studio.workspace import Workspace


def variants_of(workspace: Workspace, *, last: int) -> tuple[TraceVariant, ...]:
    """The variants as those of one question."""
    return chosen_of(workspace, last=last).asked[-1]


def chosen(*variants: VariantChoice, **workspace: Any) -> Workspace:
    return Workspace(**workspace).having(RunChoice(variants=variants))


@pytest.mark.parametrize(
    "choice",
    [
        RunChoice(),
        RunChoice(section="timeline", seconds=30, options=(("intra_threads", 2),)),
        RunChoice(sweep=SweepChoice("batch", (1, 16)), asked="bare"),
        RunChoice(options=(("graph_optimization", "disabled"),)),
        RunChoice(
            variants=(
                VariantChoice(SOURCE),
                VariantChoice("cpu", (("optimizers_off", "AttentionFusion+BiasGeluFusion"),)),
                VariantChoice("17", (("spinning", True), ("thread_affinities", "2-3"))),
            )
        ),
    ],
)
def test_a_link_brings_the_choice_back(choice: RunChoice) -> None:
    assert from_link(RunChoice, to_link(choice)) == choice


def test_a_default_choice_adds_nothing_to_the_link() -> None:
    assert not any(to_link(RunChoice()).values())


@pytest.mark.parametrize(
    "query",
    [
        {"section": "<script>"},
        {"race": "source"},
        {"race": "everything,-1,1e3"},
        {"race": "9" * 40 + ",source"},
        {"seconds": "soon"},
        {"set": "no_such_option=1,intra_threads=many,device=tpu,spinning=maybe,,="},
        {"sweep": "batch"},
        {"sweep": ":1,2"},
        {"as": "deployedbare"},
    ],
)
def test_nonsense_in_a_link_is_passed_over(query: dict[str, str]) -> None:
    assert from_link(RunChoice, query) == RunChoice()


def test_what_makes_sense_beside_nonsense_is_kept() -> None:
    found = from_link(
        RunChoice, {"race": "source,what,last~spinning=true~tempo=9,12", "seconds": "999"}
    )
    assert [variant.graph for variant in found.variants] == [SOURCE, LAST, "12"]
    assert found.variants[1].options == (("spinning", True),)
    assert found.seconds == 120


def test_a_link_races_six_variants_at_most() -> None:
    assert len(from_link(RunChoice, {"race": ",".join(["source"] * 9)}).variants) == 6


def test_other_rewrites_leave_no_steps_of_the_old_trace() -> None:
    choice = RunChoice(variants=(VariantChoice("3"), VariantChoice(SOURCE), VariantChoice("9")))
    assert choice.for_another_trace().variants == DEFAULT
    kept = RunChoice(variants=(*DEFAULT, VariantChoice("9")), sweep=SweepChoice("batch"))
    assert kept.for_another_trace() == RunChoice()


@pytest.mark.parametrize(
    ("text", "sizes"),
    [("1, 2, 4", (1, 2, 4)), ("8 2 2", (2, 8)), ("0, -3, ten", (3,)), ("999999", ()), ("", ())],
)
def test_sizes_are_read_from_any_text(text: str, sizes: tuple[int, ...]) -> None:
    assert sizes_of(text) == sizes


def test_variants_are_called_by_their_graph_and_what_they_vary() -> None:
    workspace = chosen(
        VariantChoice(SOURCE),
        VariantChoice(LAST),
        VariantChoice("cpu", (("spinning", True), ("intra_threads", 2))),
        VariantChoice("7"),
    )
    labels = [variant.label for variant in variants_of(workspace, last=52)]
    assert labels == [
        "source",
        "portable preset",
        "cpu preset, spinning=true, intra_threads=2",
        "step 7",
    ]


def test_the_same_variant_twice_gets_two_labels() -> None:
    twice = variants_of(chosen(VariantChoice(LAST), VariantChoice(LAST)), last=9)
    assert [variant.label for variant in twice] == ["portable preset", "portable preset (2)"]


def test_a_pipeline_changed_by_hand_is_not_called_a_preset() -> None:
    workspace = chosen(*DEFAULT, VariantChoice("portable"), off=frozenset({"eliminate-identity"}))
    _, own, preset = variants_of(workspace, last=50)
    assert (own.label, own.step, own.preset) == ("own pipeline", 50, "")
    assert (preset.label, preset.step, preset.preset) == ("portable preset", LAST_STEP, "portable")


def test_a_preset_that_is_open_is_the_open_trace_itself() -> None:
    variant = variants_of(chosen(VariantChoice("portable"), *DEFAULT), last=50)[0]
    assert (variant.step, variant.preset) == (50, "")


def test_a_step_beyond_the_trace_is_its_last_one() -> None:
    assert variants_of(chosen(VariantChoice("99"), *DEFAULT), last=5)[0].step == 5


def test_a_variant_changes_the_common_options_for_itself_alone() -> None:
    varied = VariantChoice(LAST, (("intra_threads", 1),))
    choice = RunChoice(variants=(VariantChoice(LAST), varied), options=(("intra_threads", 2),))
    configs = [variant.config for variant in variants_of(Workspace().having(choice), last=5)]
    assert [config.intra_threads for config in configs] == [2, 1]


def test_options_of_one_variant_that_contradict_the_common_ones_are_refused() -> None:
    varied = VariantChoice(LAST, (("spinning", True),))
    choice = RunChoice(
        variants=(VariantChoice(LAST), varied), options=(("intra_threads", 1),), asked="deployed"
    )
    for asked in ALL_AS:
        with pytest.raises(ConfigError, match="spin"):
            variants_of(Workspace().having(replace(choice, asked=asked)), last=5)


def test_both_questions_are_asked_of_the_same_variants() -> None:
    deployed, bare = chosen_of(chosen(*DEFAULT), last=5).asked
    assert [variant.label for variant in deployed] == [variant.label for variant in bare]
    assert {variant.config for variant in bare} == {RunConfig()}
    assert {variant.config for variant in deployed} == {
        RunConfig(graph_optimization="all", intra_threads=0)
    }


def test_a_question_that_the_options_cannot_answer_is_left_out_with_the_reason() -> None:
    found = chosen_of(
        chosen(VariantChoice(LAST), VariantChoice(LAST, (("spinning", True),))), last=5
    )
    assert [variant.config.spinning for variant in found.asked[0]] == [False, True]
    assert len(found.asked) == 1
    assert found.left_out.startswith("Not raced as bare: With one thread there is nobody to spin")
    assert with_labels(found.left_out).endswith("or 'Idle threads spin: off'.")


@pytest.mark.parametrize("name", [option.name for option in options()])
def test_the_value_to_try_next_is_another_one_that_the_option_can_have(name: str) -> None:
    option = next(option for option in options() if option.name == name)
    value = other_value(option, option.default)
    assert check_value(option, value) == value
    free_text = option.type is str and not option.choices
    only_choice = option.name == "device"  # on a machine without a GPU
    assert value != option.default or free_text or only_choice


@pytest.mark.parametrize("has_rewrites", [True, False])
def test_every_set_is_a_race_that_can_be_run(has_rewrites: bool) -> None:
    sets = sets_of(Workspace(), has_rewrites=has_rewrites)
    assert ("Source / last step / presets" in sets) == has_rewrites
    for choice in sets.values():
        variants = variants_of(Workspace().having(choice), last=20 if has_rewrites else 0)
        assert 2 <= len(variants) <= 6
        assert len({variant.label for variant in variants}) == len(variants)


def test_the_sets_for_a_gpu_run_there_and_differ_in_one_option() -> None:
    for choice in gpu_sets(Workspace()).values():
        off, on = variants_of(Workspace().having(choice), last=9)
        assert off.config.device == on.config.device == "cuda"
        assert len(off.config.changed().items() ^ on.config.changed().items()) == 1
        assert off.label != on.label


def test_the_first_set_races_source_portable_and_cpu() -> None:
    choice = sets_of(Workspace(), has_rewrites=True)["Source / last step / presets"]
    labels = [variant.label for variant in variants_of(Workspace().having(choice), last=9)]
    assert labels == ["source", "portable preset", "cpu preset"]


def test_the_set_of_generated_kernels_races_one_graph_without_and_with_them() -> None:
    choice = sets_of(Workspace(), has_rewrites=True)["Generated kernels off / on"]
    off, on = variants_of(Workspace().having(choice), last=9)
    assert off.config.changed() == {"generated_kernels": "off"}
    assert not on.config.changed()
