"""A list of primitives in a link: what comes back, and what nonsense in it becomes."""

from __future__ import annotations

import base64
import hashlib
import zlib

import pytest

from optimizer.errors import StudioError
from optimizer.loops.schedule import ComputeRoot, Schedule
from optimizer.schedules.examples import EXAMPLES
from studio.link import from_link, to_link
from studio.schedule.draft import (
    DRAFT,
    MOST_LINK,
    MOST_PRIMITIVES,
    Draft,
    Unreadable,
    checked,
    packed,
    unpacked,
)
from studio.schedule.link import END, ScheduleChoice


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_fits_a_link_and_comes_back_from_it(example: str) -> None:
    for one in EXAMPLES[example].schedules:
        draft = checked(Draft(one.schedule, (0, 99)))
        choice = ScheduleChoice(example, one.name, draft, 2)
        link = to_link(choice)
        assert len(link["primitives"]) < 500
        assert from_link(ScheduleChoice, link) == choice


def test_what_is_switched_off_is_not_applied() -> None:
    tiled = EXAMPLES["blur"].schedule("tiled")
    applied = Draft(tiled, (1, 3)).applied.primitives
    assert applied == tuple(tiled.primitives[at] for at in (0, 2, 4))


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "_" * (MOST_LINK + 1),
        base64.urlsafe_b64encode(zlib.compress(b"{}")).decode(),
        base64.urlsafe_b64encode(zlib.compress(b" " * (1 << 24))).decode(),  # 64 KiB, no more
        base64.urlsafe_b64encode(zlib.compress(b"[" * 60_000)).decode(),
        packed(Draft(Schedule((ComputeRoot("blur_x"),))))[:-6],
    ],
)
def test_nonsense_in_a_link_is_told_and_nothing_else(text: str) -> None:
    assert isinstance(unpacked(text), Unreadable)
    assert isinstance(from_link(ScheduleChoice, {"primitives": text}).draft, Unreadable)


def test_a_schedule_that_is_too_long_for_a_link_is_left_out_of_it() -> None:
    names = [hashlib.sha512(bytes([number])).hexdigest() for number in range(MOST_PRIMITIVES)]
    long = checked(Draft(Schedule(tuple(map(ComputeRoot, names)))))
    assert to_link(ScheduleChoice(draft=long))["primitives"] == ""  # empty ones stay out


def test_a_schedule_that_is_too_long_to_be_drawn_is_refused() -> None:
    one = ComputeRoot("blur_x")
    assert checked(Draft(Schedule((one,) * MOST_PRIMITIVES)))
    with pytest.raises(StudioError, match="65 primitives is too long to be drawn"):
        checked(Draft(Schedule((one,) * (MOST_PRIMITIVES + 1))))


def test_another_model_ends_a_region_and_leaves_an_example() -> None:
    assert ScheduleChoice("region.norm", step=3).for_another_model() == ScheduleChoice()
    assert ScheduleChoice("node.n3").for_another_model() == ScheduleChoice()
    example = ScheduleChoice("harris", "all kept", step=3)
    assert example.for_another_model() == example


def test_an_edit_is_shown_at_its_step_and_another_subject_from_its_end() -> None:
    draft = Draft(Schedule())
    assert ScheduleChoice("blur").having(draft, 2).step == 2
    assert ScheduleChoice("blur", step=2).opening("harris").step == END
    assert DRAFT.loads(DRAFT.dumps(draft)) == draft
