"""What passes would do at a step where somebody rests is asked before they ask."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]

RESTING = """async ([acts, answers]) => {
  const times = new Map();
  const { WhatIf } = await import("/viewer/test/panels/what-if.js");
  const { State } = await import("/viewer/test/session/state.js");
  const real = { fetch, setTimeout, clearTimeout }, asked = [];
  let timer = null;
  window.setTimeout = (act) => ((timer = act), 1);
  window.clearTimeout = () => (timer = null);
  window.fetch = async (url, { method } = {}) => {
    const { pathname, search } = new URL(url);
    asked.push(`${method ?? "GET"} ${pathname}${search}`);
    if (!answers) throw new Error("nobody answers");
    times.set(pathname, (times.get(pathname) ?? 0) + 1);
    const left = times.get(pathname) < answers ? ["late"] : [];
    return { ok: true, json: async () => ({ passes: [], unasked: left }) };
  };
  const state = new State(), nothing = () => {};
  const session = { step: 0, steps: Array(5), trace: { key: "run" } };
  const panel = new WhatIf({ state, actions: {} }, nothing, nothing);
  const offer = { key: "run", url: "/what-if" };
  const done = {
    offered: () => state.set({ session, data: { what_if: offer } }),
    "not offered": () => state.set({ session, data: {} }),
    "at rest": () => state.changed("rest"),
    waited: () => timer?.(),
    playing: () => state.set({ playing: true }),
    paused: () => state.set({ playing: false }),
    pressed: () => panel.head()[0].click(),
    told: () => new Promise((then) => real.setTimeout.call(window, then, 50)),
  };
  for (const act of acts)
    if (typeof act === "string") await done[act]();
    else (session.step = act), state.changed("step");
  Object.assign(window, real);
  return asked;
}"""
"""Steps that are gone to, and what else happens; a second is over only where it is `waited`."""


def asked(page: Page, *acts: int | str, answers: int = 0) -> list[str]:
    """What the server was asked, of all that the panel might ask.

    Args:
        page: in which.
        acts: see `RESTING`.
        answers: how often about one step, until all is told; 0: it fails.
    """
    return page.evaluate(RESTING, [list(acts), answers])


def test_the_server_is_told_once_of_a_step_where_somebody_rests(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    assert asked(page, "offered", 3, "at rest", "waited", "at rest", "waited") == [
        "POST /what-if/3/ahead"
    ]


def test_a_step_that_was_left_in_time_is_not_asked_about(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    assert asked(page, "offered", 3, "at rest", 4, "waited") == []
    assert asked(page, "offered", 3, "at rest", 4, "at rest", "waited") == ["POST /what-if/4/ahead"]


def test_nothing_is_asked_ahead_of_the_source_while_it_plays_or_where_nothing_is_offered(
    opened: Opened,
) -> None:
    page = opened("fixture=cnn8")
    assert asked(page, "offered", "at rest", "waited") == []
    assert asked(page, "not offered", 3, "at rest", "waited") == []
    assert asked(page, "offered", "playing", 3, "at rest", "waited") == []
    assert asked(page, "offered", "playing", 3, "paused", "waited") == ["POST /what-if/3/ahead"]


def test_who_has_asked_is_not_asked_for(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    assert asked(page, "offered", 3, "pressed", "at rest", "waited") == ["GET /what-if/3.json"]


def test_once_a_step_is_told_the_next_one_on_the_way_is_asked_ahead(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    found = asked(page, "offered", 3, "pressed", "told", 4, "at rest", "told", answers=1)
    assert found == [
        "GET /what-if/3.json", "POST /what-if/4/ahead",
        "GET /what-if/4.json", "POST /what-if/5/ahead",
    ]  # fmt: skip
    found = asked(page, "offered", 3, "pressed", "told", 2, "at rest", "told", answers=1)
    assert found[-1] == "POST /what-if/1/ahead"
    found = asked(page, "offered", 5, "pressed", "told", answers=1)
    assert found[-1] == "GET /what-if/5.json"


def test_all_is_asked_where_not_all_could_be_said_soon(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    found = asked(page, "offered", 3, "pressed", "told", answers=2)
    assert found == ["GET /what-if/3.json", "GET /what-if/3.json?all", "POST /what-if/4/ahead"]


WAITING = """async () => {
  const { WhatIf } = await import("/viewer/test/panels/what-if.js");
  const { State } = await import("/viewer/test/session/state.js");
  const really = fetch, waiting = [], nothing = () => {};
  const passes = (matches) => [{ pass_id: "late", matches, declined: 0, places: [], whole: true }];
  const soon = { passes: [], unasked: ["late"] };
  let last = "";
  window.fetch = async (url, { method } = {}) => {
    if (method === "POST") return {};
    const path = new URL(url).pathname;
    if (path !== last) {
      last = path;
      return { ok: true, json: async () => soon };
    }
    const all = (n) => ({ passes: passes(n), unasked: [] });
    return new Promise((then) =>
      waiting.push((n) => then({ ok: true, json: async () => all(n) })));
  };
  const state = new State();
  const session = { step: 3, steps: Array(5), trace: { key: "run" } };
  const panel = new WhatIf({ state, actions: {} }, nothing, nothing);
  const told = [];
  const tell = async () => {
    await new Promise((then) => setTimeout(then, 20));
    const cell = panel.cell({ id: "late" });
    told.push(`${cell.localName} ${cell.textContent} ${cell.classList.contains("pl-before")}`);
  };
  state.set({ session, data: { what_if: { key: "run", url: "/what-if" } } });
  panel.head()[0].click();
  await tell();
  waiting.shift()(2);
  await tell();
  session.step = 4;
  state.changed("rest");
  await tell();
  waiting.shift()(1);
  await tell();
  window.fetch = really;
  return told;
}"""


def test_who_is_asked_last_says_what_it_did_a_step_before_until_it_answers(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    assert page.evaluate(WAITING) == [
        "span  false", "button 2× false", "span 2× true", "button 1× false",
    ]  # fmt: skip
