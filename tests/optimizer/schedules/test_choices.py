"""What can be done next: legal, ranked, bounded, and what is not possible with its reason."""

from __future__ import annotations

import math

import pytest

from optimizer.loops.schedule import (
    ComputeAt,
    GpuBlocks,
    GpuThreads,
    Schedule,
    ScheduleError,
    Split,
    Vectorize,
)
from optimizer.schedules.choices import choices_in_parts, choices_of
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.excess import runnable_nest

NAMES = ("tail", "blur", "matmul", "three-nests", "conv-nchw")


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_can_be_applied_and_the_fastest_comes_first(name: str) -> None:
    example = EXAMPLES[name]
    algorithm = example.make(**example.small)
    found = choices_of(algorithm, example.schedules[-1].schedule, most=60)
    assert found.choices
    for one in found.choices:
        assert one.schedule.primitives[-len(one.step.primitives) :] == one.step.primitives
        runnable_nest(algorithm, one.schedule)
    guessed = [one.predicted_us or math.inf for one in found.choices]
    assert guessed == sorted(guessed)
    assert math.inf not in guessed


@pytest.mark.parametrize("name", NAMES)
def test_what_is_refused_has_the_reason_that_applying_it_gives(name: str) -> None:
    example = EXAMPLES[name]
    algorithm = example.make(**example.small)
    schedule = example.schedules[0].schedule
    for one in choices_of(algorithm, schedule, most=60).refused:
        with pytest.raises(ScheduleError) as caught:
            runnable_nest(algorithm, Schedule((*schedule.primitives, *one.step.primitives)))
        assert caught.value.reason == one.reason


def test_side_by_side_in_a_reduction_is_refused_and_sums_side_by_side_are_offered() -> None:
    example = EXAMPLES["three-nests"]
    found = choices_of(example.algorithm, example.schedule("one nest"))
    refused = {one.step.text: one.reason for one in found.refused}
    assert "would race" in refused["run k in parallel"]
    assert "16 sums of product side by side along k" in [one.step.text for one in found.choices]


def test_of_a_naive_product_the_first_choice_is_vectors_along_rows() -> None:
    example = EXAMPLES["matmul"]
    first = choices_of(example.algorithm, Schedule(), most=60).choices[0]
    assert first.step.func == "product"
    assert first.step.text.startswith("move j innermost and vectorize it")
    assert first.speedup is not None
    assert first.speedup > 10


def test_places_are_offered_at_each_loop_of_a_reader() -> None:
    example = EXAMPLES["blur"]
    found = choices_of(example.algorithm, Schedule((Split("blur_y", "y", "yo", "yi", 32),)))
    places = [step for one in found.choices for step in one.step.primitives]
    assert {ComputeAt("blur_x", "blur_y", loop) for loop in ("yo", "yi", "x")} <= set(places)


def test_new_loops_have_names_that_are_not_there_yet() -> None:
    example = EXAMPLES["loop-order"]
    schedule = Schedule(
        (Split("scaled", "j", "jo", "ji", 64), Split("scaled", "ji", "joo", "j", 4))
    )
    texts = [one.step.text for one in choices_of(example.algorithm, schedule).choices]
    assert "split i by 8" in texts


def test_what_was_not_looked_at_is_counted_and_parts_lead_to_the_whole() -> None:
    example = EXAMPLES["blur"]
    schedule = example.schedules[0].schedule
    whole = choices_of(example.algorithm, schedule)
    few = choices_of(example.algorithm, schedule, most=10)
    assert whole.left_out == 0
    assert few.left_out == len(whole.choices) + len(whole.refused) - 10
    parts = list(choices_in_parts(example.algorithm, schedule, part=16))
    assert len(parts[0].choices) + len(parts[0].refused) == 16
    assert parts[-1] == whole


def test_a_schedule_that_cannot_be_applied_has_no_choices() -> None:
    with pytest.raises(ScheduleError, match="no loop z"):
        choices_of(EXAMPLES["blur"].algorithm, Schedule((Vectorize("blur_y", "z"),)))


def test_nothing_is_guessed_of_a_schedule_for_a_gpu() -> None:
    example = EXAMPLES["three-nests"]
    algorithm = example.make(**example.small)
    on_gpu = (GpuBlocks("relu", "i"), GpuThreads("relu", "j"))
    found = choices_of(algorithm, Schedule(on_gpu), most=20)
    assert found.now_us is None
    assert found.choices
    assert {(one.predicted_us, one.speedup) for one in found.choices} == {(None, None)}
