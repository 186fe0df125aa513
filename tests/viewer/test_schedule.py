"""Modules of the page Schedule by themselves: edits of a list, boxes and what changed in them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from optimizer.loops.schedule import Primitive
from optimizer.schedules.document import primitive_text
from optimizer.schedules.examples import EXAMPLES
from studio.schedule.descriptor import primitives_json
from tests.studio.browsing import PATIENCE_MS

pytestmark = pytest.mark.browser
Json = dict[str, Any]


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Page:
    """A page that has the modules."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{address}/?fixture=folding")
    return page


def test_primitives_are_written_as_the_server_writes_them(page: Page) -> None:
    schedules = [one.schedule for example in EXAMPLES.values() for one in example.schedules]
    every: list[Primitive] = [one for schedule in schedules for one in schedule.primitives]
    told = [one for schedule in schedules for one in primitives_json(schedule)]
    texts = page.evaluate(
        """async (primitives) => {
      const { textOf } = await import("/viewer/test/schedule/kinds.js");
      return primitives.map(textOf);
    }""",
        told,
    )
    assert texts == [primitive_text(one) for one in every]


def test_a_list_keeps_what_is_off_with_its_primitive(page: Page) -> None:
    found = page.evaluate(
        """async () => {
      const edits = await import("/viewer/test/schedule/list-edits.js");
      const of = (name) => ({ primitive: name, func: "f" });
      const draft = { primitives: ["a", "b", "c"].map(of), texts: ["a", "b", "c"], off: [1] };
      const seen = ({ texts, off }) => `${texts.join("")} ${off}`;
      return [
        edits.moved(draft, 1, 2), edits.moved(draft, 0, 2), edits.without(draft, 0),
        edits.without(draft, 1), edits.switched(draft, 1), edits.switched(draft, 0),
        edits.inserted(draft, 1, [of("d"), of("e")]),
      ].map(seen).concat([0, 1, 2].map((row) => String(edits.stepOf(draft, row))));
    }"""
    )
    assert found[:6] == ["acb 2", "bca 0", "bc 0", "ac ", "abc ", "abc 0,1"]
    assert found[6] == "af.d()f.e()bc 3"
    assert found[7:] == ["1", "1", "2"]


def node(depth: int, kind: str, name: str, **more: Any) -> Json:
    """A line of a nest of one Func."""
    plain = {"stage": 0, "run": "serial", "extent": 4, "most": 4, "tail": "", "reduces": False}
    loop = name if kind == "loop" else ""
    about: Json = {"shape": [], "bytes": 0, "func": "f", "loop": loop}
    return {"depth": depth, "kind": kind, **plain, **about, **more}


def test_what_a_split_changed_is_marked_and_what_only_has_a_new_box_around_it_is_not(
    page: Page,
) -> None:
    before = [node(0, "produce", ""), node(1, "loop", "y"), node(2, "loop", "x"),
              node(3, "compute", "")]  # fmt: skip
    after = [node(0, "produce", ""), node(1, "loop", "y", run="parallel"), node(2, "loop", "xo"),
             node(3, "loop", "xi"), node(4, "compute", "")]  # fmt: skip
    found = page.evaluate(
        """async ([before, after]) => {
      const { boxesOf, byKey, changeOf, goneFrom, layOut } =
        await import("/viewer/test/schedule/tree.js");
      const boxes = boxesOf(after);
      const { places, height } = layOut(boxes, 400);
      const at = boxes.map(({ key }) => places.get(key));
      return {
        marks: boxes.map((box) => changeOf(box, byKey(before), byKey(after))),
        gone: goneFrom(byKey(before), byKey(after)),
        inside: boxes.every((box, i) => !box.around || within(at[i], places.get(box.around.key))),
        height: height === at[0].h,
      };
      function within(inner, outer) {
        return inner.x > outer.x && inner.y > outer.y && inner.x + inner.w < outer.x + outer.w
          && inner.y + inner.h < outer.y + outer.h;
      }
    }""",
        [before, after],
    )
    assert [one["mark"] for one in found["marks"]] == ["", "changed", "added", "added", ""]
    assert found["marks"][1]["was"] == "one after another"
    assert found["gone"] == ["loop x of f"]
    assert found["inside"]
    assert found["height"]


def test_loops_that_changed_places_are_marked_as_moved(page: Page) -> None:
    loops = ["a", "b", "c"]
    before, after = (
        [
            node(0, "produce", ""),
            *(node(depth, "loop", name) for depth, name in enumerate(order, 1)),
        ]
        for order in (loops, ["b", "a", "c"])
    )
    marks = page.evaluate(
        """async ([before, after]) => {
      const { boxesOf, byKey, changeOf } = await import("/viewer/test/schedule/tree.js");
      return boxesOf(after).map((box) => changeOf(box, byKey(before), byKey(after)));
    }""",
        [before, after],
    )
    assert [one["mark"] for one in marks] == ["", "moved", "moved", ""]
    assert [one["was"] for one in marks[1:3]] == ["in a of f", "in f"]
