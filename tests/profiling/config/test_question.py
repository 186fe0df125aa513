"""The two questions a race can answer, and what the options leave of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiling.config import RunConfig, Value
from profiling.config.option import ConfigError
from profiling.config.question import (
    ALL_AS,
    QUESTIONS,
    SETTLED,
    As,
    ContradictoryQuestion,
    Question,
    ask,
    config_for,
    explained,
    meaning_of,
    question_of,
    question_of_options,
)

DEPLOYED, BARE = RunConfig(graph_optimization="all", intra_threads=0), RunConfig()


def test_both_questions_are_asked_deployed_first() -> None:
    assert ask("both", [{}, {}]).configs == ((DEPLOYED, DEPLOYED), (BARE, BARE))
    assert ask("deployed", [{}]).configs == ((DEPLOYED,),)
    assert ask("bare", [{}]).configs == ((BARE,),)


def test_threads_spin_in_neither() -> None:
    assert not DEPLOYED.spinning
    assert not BARE.spinning


@pytest.mark.parametrize("value", [0, 1, 2])
def test_what_is_set_holds_in_both_also_where_it_is_a_default(value: int) -> None:
    deployed, bare = ask("both", [{"intra_threads": value}]).configs
    assert deployed[0].intra_threads == bare[0].intra_threads == value
    assert (deployed[0].graph_optimization, bare[0].graph_optimization) == ("all", "disabled")


@pytest.mark.parametrize(
    ("levels", "only", "left"),
    [
        (["disabled"], "bare", "bare"),
        (["disabled", "disabled"], "bare", "bare"),
        (["extended"], "deployed", "deployed"),
        (["disabled", "all"], "deployed", None),
        ([None, "disabled"], "deployed", None),
    ],
)
def test_one_question_is_left_where_the_level_is_set(
    levels: list[str | None], only: As, left: Question | None
) -> None:
    variants: list[dict[str, Value]] = [
        {} if level is None else {"graph_optimization": level} for level in levels
    ]
    found = ask("both", variants)
    assert found.left_out == f"Raced as {only} only: graph_optimization is set."
    assert ask(only, variants).configs == found.configs
    assert ask(only, variants).left_out == ""
    (configs,) = found.configs
    assert question_of(configs) == left


def test_a_level_of_the_other_question_is_refused_and_can_be_mended() -> None:
    none: dict[str, Value] = {}
    bare: dict[str, Value] = {"graph_optimization": "disabled"}
    all_: dict[str, Value] = {"graph_optimization": "all"}
    cases: list[tuple[As, list[dict[str, Value]], int]] = [
        ("bare", [none, all_], 1),
        ("bare", [all_, all_], 0),
        ("deployed", [bare, bare], 0),
    ]
    for wanted, variants, place in cases:
        with pytest.raises(
            ContradictoryQuestion, match=f"and not {wanted}; leave graph_optimization out"
        ) as told:
            ask(wanted, variants)
        assert told.value.place == place
        (mend,) = told.value.contradiction.mends
        assert ask(wanted, [{**values, **mend} for values in variants])
    assert question_of(ask("bare", [none, bare]).configs[0]) == "bare"
    assert question_of(ask("deployed", [none, bare]).configs[0]) is None


@pytest.mark.parametrize(
    ("values", "only"),
    [({"optimizers_off": "ReshapeFusion"}, "deployed"), ({"spinning": True}, "deployed")],
)
def test_a_question_in_which_an_option_means_nothing_is_left_out(
    values: dict[str, Value], only: Question
) -> None:
    found = ask("both", [{}, values])
    assert found.configs == ask(only, [{}, values]).configs
    assert found.left_out.startswith("Not raced as bare: ")
    with pytest.raises(ConfigError):
        ask("bare", [{}, values])


def test_options_that_contradict_each_other_in_both_are_refused() -> None:
    for asked in ALL_AS:
        with pytest.raises(ConfigError, match="execution_mode"):
            ask(asked, [{"inter_threads": 2}])


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_config_tells_its_question_again(question: Question) -> None:
    config = config_for(question, {"memory_reuse": False})
    assert question_of([config]) == question
    assert question_of_options(config.changed()) == question
    assert {"graph_optimization", "intra_threads"} == SETTLED


def test_recordings_of_before_the_questions_say_what_they_were() -> None:
    assert question_of_options({}) == "bare"
    assert question_of_options({"graph_optimization": "extended"}) == "deployed"


def test_the_meaning_is_a_sentence_about_what_ran() -> None:
    assert explained([[DEPLOYED, DEPLOYED], [BARE]]) == (
        "Deployed: all of the runtime's own rewrites, on all cores; "
        "bare: the file itself, none of the runtime's rewrites, on one thread."
    )
    own = RunConfig(graph_optimization="basic", intra_threads=3)
    assert meaning_of([own]) == "the runtime's own rewrites (basic), on 3 threads"
    assert meaning_of([DEPLOYED, replace(DEPLOYED, intra_threads=2)]) == (
        "all of the runtime's own rewrites"
    )
    assert explained([[DEPLOYED, BARE], []]) == ""
