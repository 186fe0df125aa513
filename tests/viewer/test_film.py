"""The film of an allocator in a real browser: its states, keys, clock, words, and the lit node."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page
from viewer_films import arena_of
from viewer_scripts import rested, told
from viewer_server import fixture

from optimizer.memory.lazy_allocator import LazyAllocator, film

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]

STATES = """async ([name, places]) => {
  const { AllocatorEvents, Replay } = await import("/viewer/test/film/events.js");
  const events = new AllocatorEvents(await (await fetch(`/film/${name}.json`)).json(), name);
  const replay = new Replay(events);
  return places.map((k) => {
    replay.goto(k);
    return {
      live: [...replay.live].map((b) => [`v-${events.json.nodes[events.json.buffers.node[b]][0]}`,
        events.offsets[1][b]]).sort(),
      free: replay.list().map((f) => [f.size, f.offset]),
      held: events.peak[k], used: events.used[k], high: events.highs[1][k],
    };
  });
}"""
GOLD = """(where) => {
  const canvas = shadow.querySelectorAll(".pl-pane > canvas")[1];
  const r = canvas.getBoundingClientRect(), z = canvas.width / r.width;
  const d = canvas.getContext("2d").getImageData((where.x - r.x - 4) * z, (where.y - r.y - 4) * z,
    (where.width + 8) * z, (where.height + 8) * z).data;
  let n = 0;
  for (let i = 0; i < d.length; i += 4)
    if (Math.abs(d[i] - 224) < 8 && Math.abs(d[i + 1] - 161) < 8 && d[i + 2] < 12) n++;
  return n;
}"""
MOVING = """async (key) => {
  const seen = new Set();
  const root = shadow.querySelector(".pl-root");
  root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  for (const end = performance.now() + 400; performance.now() < end;) {
    await new Promise(requestAnimationFrame);
    seen.add(window.__passlens.film.moving);
  }
  return [...seen].sort();
}"""


def state(page: Page) -> dict[str, Any]:
    """Where the film is."""
    return page.evaluate("__passlens.film")


def words(page: Page) -> str:
    """The sentence about the current event."""
    return page.locator(".pl-words").inner_text()


def at(page: Page, place: int) -> None:
    """Wait until that event is shown."""
    page.wait_for_function(f"__passlens.film.at === {place}")


def python_states(name: str) -> list[dict[str, Any]]:
    """What the allocator itself says after every event."""
    arena, _ = arena_of(fixture(name)[0])
    allocator = LazyAllocator()
    live: dict[str, int] = {}

    def now() -> dict[str, Any]:
        free = sorted([size, offset] for offset, size in allocator.free_blocks)
        held, used = allocator.peak_bytes, allocator.used_bytes
        return {
            "live": sorted([name, offset] for name, offset in live.items()),
            "free": free, "held": held, "used": used, "high": held,
        }  # fmt: skip

    states = [now()]
    for event in film(arena.buffers()):
        if event.kind in ("free", "merge"):
            allocator.free(live.pop(event.buffer))
        else:
            live[event.buffer] = allocator.allocate(event.size_bytes)
        states.append(now())
    return states


@pytest.mark.parametrize("name", ["cnn8", "transformer2", "hostile"])
def test_the_browser_reaches_every_state_of_the_allocator_in_any_order(
    opened: Opened, name: str
) -> None:
    page = opened("fixture=cnn4&mode=film")
    states = python_states(name)
    places = list(range(len(states)))
    random.Random(7).shuffle(places)
    assert page.evaluate(STATES, [name, places]) == [states[place] for place in places]


def test_it_opens_where_the_arena_is_largest_and_tells_only_where_it_rests(
    opened: Opened,
) -> None:
    page = opened("fixture=cnn8&mode=film")
    states = python_states("cnn8")
    most = states[-1]["held"]
    at(page, next(i for i, one in enumerate(states) if one["held"] == most))
    told(page)
    assert page.evaluate("window.__sent") == []
    for key in ("Home", "ArrowRight", "ArrowRight", "End", " ", "ArrowLeft"):
        page.keyboard.press(key)
    told(page)
    place = {"film": "film-cnn8", "event": state(page)["at"]}
    assert page.evaluate("window.__sent") == [["state", "event", place]]
    assert page.evaluate("__passlens.errors") == []


def test_keys_move_by_event_and_by_node(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    page.keyboard.press("Home")
    at(page, 0)
    assert "Nothing is allocated yet" in words(page)
    page.keyboard.press("ArrowRight")
    at(page, 1)
    assert "asks for" in words(page)
    for key in ("ArrowDown", "]"):
        node = state(page)["node"]
        page.keyboard.press(key)
        page.wait_for_function(f"__passlens.film.node !== '{node}'")
    here = state(page)["at"]
    page.keyboard.press("[")
    page.wait_for_function(f"__passlens.film.at < {here}")
    page.keyboard.press("ArrowUp")
    at(page, 1)
    page.keyboard.press("End")
    at(page, state(page)["count"])
    page.keyboard.press("ArrowLeft")
    at(page, state(page)["count"] - 1)


def test_space_plays_from_the_beginning_and_pauses(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    page.get_by_role("combobox", name="Playing speed").select_option("16")
    page.locator(".pl-root").focus()
    page.keyboard.press(" ")
    page.wait_for_function("__passlens.film.playing && __passlens.film.at > 3")
    page.keyboard.press(" ")
    page.wait_for_function("!__passlens.film.playing")
    here = state(page)["at"]
    assert here < state(page)["count"]
    rested(page)
    assert state(page)["at"] == here
    page.keyboard.press(">")
    assert page.get_by_role("combobox", name="Playing speed").input_value() == "64"


def test_playing_ends_with_the_last_event(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    page.get_by_role("combobox", name="Playing speed").select_option("256")
    page.get_by_role("button", name="Play (space)").click()
    page.wait_for_function("__passlens.film.at === __passlens.film.count")
    page.wait_for_function("!__passlens.film.playing")
    assert "Free list" in page.locator(".pl-free").inner_text()


def test_the_node_that_runs_is_lit_and_in_sight(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    for key in ("Home", "ArrowRight", "End", "ArrowLeft"):
        page.keyboard.press(key)
        rested(page)
        lit = state(page)["node"]
        if lit is None:
            continue
        where = page.evaluate("(id) => __passlensWhere(id, 1)", lit)
        pane = page.locator(".pl-pane > canvas").nth(1).bounding_box()
        assert pane is not None
        assert pane["y"] <= where["y"] <= pane["y"] + pane["height"] - 20
        assert page.evaluate(GOLD, where) > 60


def test_a_closed_group_lights_up_for_the_node_in_it(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    page.keyboard.press("E")
    page.keyboard.press("ArrowRight")
    rested(page)
    where = page.evaluate("(id) => __passlensWhere(id, 1)", state(page)["node"])
    assert where["kind"] == "closed"
    assert page.evaluate(GOLD, where) > 60


def test_an_event_moves_unless_motion_is_unwanted(opened: Opened) -> None:
    assert True in opened("fixture=cnn8&mode=film").evaluate(MOVING, "ArrowRight")
    assert opened("fixture=cnn8&mode=film", reduced=True).evaluate(MOVING, "ArrowRight") == [False]


def test_the_sentence_is_spoken_at_rest(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    at(page, 1)
    page.wait_for_function(
        "shadow.querySelector('[aria-live]').textContent.includes('asks for 256 KiB')"
    )
    slider = page.get_by_role("slider", name="Event of the allocator")
    assert "asks for 256 KiB" in (slider.get_attribute("aria-valuetext") or "")
    assert slider.get_attribute("aria-valuenow") == "1"


def test_the_scrubber_follows_the_mouse(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    box = page.get_by_role("slider", name="Event of the allocator").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.25, y)
    page.mouse.down()
    at(page, 33)
    page.mouse.move(box["x"] + box["width"] * 0.5, y, steps=4)
    page.mouse.up()
    at(page, 65)


def test_the_free_list_marks_what_is_taken_and_what_is_too_small(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    kinds = [event.kind for event in film(arena_of(fixture("cnn8")[0])[0].buffers())]
    page.keyboard.press("Home")
    for place, kind in enumerate(kinds[:40], 1):
        page.keyboard.press("ArrowRight")
        at(page, place)
        if kind in ("split", "reuse"):
            break
    else:
        pytest.fail("no block was used again")
    rows = page.locator(".pl-free li").all_inner_texts()
    taken = next(i for i, row in enumerate(rows) if "best fit" in row or "fits exactly" in row)
    asked = next(i for i, row in enumerate(rows) if "asked for" in row)
    assert all(("too small" in row) == (i < min(taken, asked)) for i, row in enumerate(rows)
               if i < min(taken, asked))  # fmt: skip
    assert not any("too small" in row for row in rows[max(taken, asked) :])


def test_a_click_on_a_block_selects_its_node(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    canvas = page.locator(".pl-lanes canvas")
    box = canvas.bounding_box()
    assert box is not None
    canvas.click(position={"x": box["width"] * 0.2, "y": box["height"] * 0.85})
    assert page.locator(".pl-details h2").text_content()


def test_a_click_on_a_node_goes_to_where_it_runs(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    page.keyboard.press("Home")
    at(page, 0)
    page.keyboard.press("0")
    rested(page)
    where = page.evaluate("(id) => __passlensWhere(id, 1)", "n4")
    page.mouse.click(where["x"] + where["width"] / 2, where["y"] + 12)
    page.wait_for_function("__passlens.film.node === 'n4' && __passlens.film.at > 1")


def test_a_graph_far_away_still_lights_the_node(opened: Opened) -> None:
    page = opened("fixture=transformer12&mode=film")
    page.keyboard.press("f")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    rested(page)
    assert page.evaluate("__passlens.errors") == []


def test_light_and_dark_draw_the_same_lanes_in_their_own_colours(opened: Opened) -> None:
    corner = """() => [...shadow.querySelector(".pl-lanes canvas").getContext("2d")
      .getImageData(0, 0, 1, 1).data].slice(0, 3)"""
    assert opened("fixture=cnn8&mode=film").evaluate(corner) == [255, 255, 255]
    assert opened("fixture=cnn8&mode=film&dark").evaluate(corner) == [18, 22, 28]


def test_names_from_the_model_stay_text(opened: Opened) -> None:
    page = opened("fixture=hostile&mode=film")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    rested(page)
    assert page.locator(".pl-film img").count() == 0
    assert page.title() == "harness"


def test_another_film_of_the_same_graph_takes_its_place(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    page.keyboard.press("Home")
    at(page, 0)
    page.evaluate("update({ film: { key: 'other', url: '/film/cnn4.json' } })")
    page.wait_for_function("__passlens.film.count < 100")
    page.evaluate("update({ film: { key: 'film-cnn8', url: '/film/cnn8.json' } })")
    page.wait_for_function("__passlens.film.count === 130")
