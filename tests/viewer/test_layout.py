"""What the layout promises, asked of the browser's own modules over every step of a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page
from viewer_scripts import SESSION

pytestmark = pytest.mark.browser

OPEN_ALL = """() => {
  session.tree.openExactly(session.tree.groups.map((g) => g.id));
  session.relayout();
}"""
SIDEWAYS = """() => {
  const s = session, seen = new Map();
  let worst = 0, steps = 0;
  for (let k = 0; k <= s.steps.length; k++) {
    s.goto(k);
    for (const which of ["before", "after", "overlay"])
      for (const b of s.picture(which).boxes) {
        if (b.kind === "open") continue;
        const mid = b.x + b.w / 2, was = seen.get(b.key);
        if (was === undefined) seen.set(b.key, mid);
        else worst = Math.max(worst, Math.abs(mid - was));
      }
    steps++;
  }
  return { worst, steps };
}"""
OVERLAPS = """() => {
  const s = session, bad = [];
  for (let k = 0; k <= s.steps.length; k += 7) {
    s.goto(k);
    for (const which of ["before", "after", "overlay"]) {
      const boxes = s.picture(which).boxes.filter((b) => b.kind !== "open");
      boxes.sort((a, b) => a.y - b.y);
      for (let i = 0; i < boxes.length; i++)
        for (let j = i + 1; j < boxes.length && boxes[j].y < boxes[i].y + boxes[i].h; j++)
          if (boxes[i].x < boxes[j].x + boxes[j].w && boxes[j].x < boxes[i].x + boxes[i].w)
            bad.push([k, which, boxes[i].rec?.name ?? boxes[i].group.name, boxes[j].key]);
    }
  }
  return bad.slice(0, 5);
}"""
UNDONE = """() => {
  const s = session;
  const digits = (list) => [...list].join("");
  const state = () => {
    const { alive, edgeAlive, total } = s.afterCursor;
    return [digits(alive), digits(edgeAlive), total].join("|");
  };
  s.goto(0);
  const first = state();
  const forward = [];
  for (let k = 0; k <= s.steps.length; k++) { s.goto(k); forward.push(state()); }
  let same = true;
  for (let k = s.steps.length; k >= 0; k--) { s.goto(k); same &&= state() === forward[k]; }
  const end = forward.at(-1).split("|")[2];
  return { same, back: state() === first, end, want: s.trace.totals.nodes[1] };
}"""

NAMES = ["cnn8", "transformer2", "transformer12"]


def start(opened: Callable[..., Page], name: str) -> tuple[Page, dict[str, Any]]:
    """A page that holds a session over a fixture."""
    page = opened("fixture=cnn4")
    return page, page.evaluate(SESSION, name)


@pytest.mark.parametrize("name", NAMES)
def test_no_node_moves_sideways_over_all_steps(opened: Callable[..., Page], name: str) -> None:
    page, _ = start(opened, name)
    page.evaluate(OPEN_ALL)
    moved = page.evaluate(SIDEWAYS)
    assert moved["steps"] > 10
    assert moved["worst"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_boxes_never_overlap_within_a_pane(opened: Callable[..., Page], name: str) -> None:
    page, _ = start(opened, name)
    assert page.evaluate(OVERLAPS) == []
    page.evaluate(OPEN_ALL)
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("name", [*NAMES, "transformer160"])
def test_at_most_150_boxes_at_first(opened: Callable[..., Page], name: str) -> None:
    _, first = start(opened, name)
    assert 30 < first["boxes"] <= 150


@pytest.mark.parametrize("name", NAMES)
def test_stepping_back_undoes_exactly_what_stepping_forward_did(
    opened: Callable[..., Page], name: str
) -> None:
    page, _ = start(opened, name)
    found = page.evaluate(UNDONE)
    assert found["same"]
    assert found["back"]
    assert int(found["end"]) == found["want"]


def test_a_shared_mask_is_a_stub_at_every_layer_and_never_a_wire(
    opened: Callable[..., Page],
) -> None:
    page, _ = start(opened, "transformer12")
    found = page.evaluate("""() => {
      const s = session, mask = s.union.slotOf[s.union.index.get("n3")];
      const { wiring } = s.layout;
      const pairs = [...wiring.sourceSlot.keys()].filter((p) => wiring.sourceSlot[p] === mask);
      return { pairs: pairs.length, stubs: pairs.filter((p) => wiring.stub[p]).length,
               tags: s.picture("after").tags.length };
    }""")
    assert found["pairs"] == 12
    assert found["stubs"] == 12
    assert found["tags"] >= 12


def test_a_wire_past_a_whole_graph_is_a_stub_and_one_around_a_block_is_not(
    opened: Callable[..., Page],
) -> None:
    page, _ = start(opened, "wide")
    found = page.evaluate("""() => {
      const s = session, { wiring, slots } = s.layout;
      const { recs, slotOf } = s.union;
      const box = (name) => s.tree.boxOf(slotOf[recs.findIndex((r) => r.name === name)]);
      const pairs = (a, b) => [...wiring.source.keys()]
        .filter((p) => wiring.source[p] === a && wiring.target[p] === b).map((p) => wiring.stub[p]);
      const around = [...wiring.source.keys()].filter((p) => {
        const [a, b] = [wiring.source[p], wiring.target[p]].map((k) => s.union.recs[k]);
        return b?.op === "Add" && a?.op !== "Relu" && a?.g !== b?.g;
      });
      const tall = s.picture("before").wires.map((w) => w.y1 - w.y0);
      return { across: pairs(box("start"), box("end")), tallest: Math.max(...tall),
               around: around.map((p) => wiring.stub[p]), height: s.picture("before").height };
    }""")
    assert found["across"] == [1]
    assert len(found["around"]) > 5
    assert not any(found["around"])
    assert found["tallest"] < found["height"] / 2
