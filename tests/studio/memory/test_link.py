"""What the Memory page is set to, and how a link says it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.link import from_link, to_link
from studio.memory.link import MemoryChoice
from studio.variants.link import RunChoice
from studio.viewing import changed_view
from studio.workspace import View, Workspace, from_query, to_query


@pytest.mark.parametrize(
    "choice",
    [
        MemoryChoice(),
        MemoryChoice(section="planners", planner="exact", order="list", seconds=20),
        MemoryChoice(share="none", alignment=256, extra=0, moment=0, compared=False, graph="g3"),
        MemoryChoice(section="film", event=0),
        MemoryChoice(sizes=(("a:b,c~1", 4), ("batch", 1), ("past + seq", 128))),
    ],
)
def test_a_link_brings_the_choice_back(choice: MemoryChoice) -> None:
    assert from_link(type(choice), to_link(choice)) == choice


def test_a_default_choice_adds_nothing_to_the_link() -> None:
    assert not any(to_link(MemoryChoice()).values())


@pytest.mark.parametrize(
    "query",
    [
        {"memory": "<script>"},
        {"planner": "../../etc"},
        {"order": "A B"},
        {"share": "everything"},
        {"align": "63"},
        {"search": "soon"},
        {"sizes": "batch:0,seq:-1,:4,x:99999999999"},
        {"at": "-1"},
        {"graph": "g1/../x"},
        {"event": "last"},
    ],
)
def test_what_makes_no_sense_in_a_link_is_passed_over(query: dict[str, str]) -> None:
    assert from_link(MemoryChoice, query) == MemoryChoice()


def test_too_much_time_is_cut_to_what_is_allowed() -> None:
    assert from_link(MemoryChoice, {"search": "9999"}).seconds == 60


@pytest.mark.parametrize(
    ("views", "in_place", "share"),
    [
        (True, True, "both"),
        (True, False, "views"),
        (False, True, "in-place"),
        (False, False, "none"),
    ],
)
def test_two_switches_say_who_shares_memory(views: bool, in_place: bool, share: str) -> None:
    choice = MemoryChoice(moment=3, event=40).sharing(views=views, in_place=in_place)
    assert (choice.share, choice.views, choice.in_place) == (share, views, in_place)
    assert (choice.moment, choice.event) == (None, None)


def test_another_model_has_other_dimensions_and_bodies() -> None:
    before = MemoryChoice(section="order", planner="exact", sizes=(("n", 2),), moment=4, graph="g1")
    before = replace(before, event=40)
    workspace = Workspace().having(before).with_model("bert")
    assert workspace.of(MemoryChoice) == MemoryChoice(section="order", planner="exact")


def test_another_graph_has_another_film() -> None:
    workspace = Workspace(view=View(step=3)).having(MemoryChoice(section="film", event=40))
    looked_on = {"step": 3, "select": ["n1"]}
    assert changed_view(workspace, looked_on).of(MemoryChoice).event == 40
    film = MemoryChoice(section="film")
    assert changed_view(workspace, {**looked_on, "step": 4}).of(MemoryChoice) == film
    assert workspace.with_preset("runtime").of(MemoryChoice) == film


def test_the_page_and_the_run_page_keep_their_sections_apart() -> None:
    query = {"section": "timeline", "memory": "order", "step": "3"}
    workspace = from_query(query)
    assert (workspace.of(RunChoice).section, workspace.of(MemoryChoice).section) == (
        "timeline",
        "order",
    )
    assert {**to_query(workspace)}.items() >= query.items()
