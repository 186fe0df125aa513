"""The state of the viewer: who watches a part hears of it once, and only then."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]

WATCHED = """async () => {
  const { State } = await import("/viewer/test/session/state.js");
  const state = new State(), heard = [];
  state.watch(["selected", "step"], () => heard.push(`graph ${state.selected}`));
  state.watch(["playing"], () => heard.push(`play ${state.playing}`));
  state.set({ selected: "a", stepped: true });
  state.changed("step", "selected");
  state.changed("marks");
  state.set({ playing: true, selected: null });
  return heard;
}"""


def test_watchers_are_told_once_after_a_change_of_what_they_watch(opened: Opened) -> None:
    told = opened("fixture=cnn8").evaluate(WATCHED)
    assert told == ["graph a", "graph a", "graph null", "play true"]
