"""Errors of nodes as colours: in decibels, the worst of a group, and where they begin."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from viewer_scripts import SESSION, rested
from viewer_server import fixture

pytestmark = pytest.mark.browser

VALUES = """async (json) => {
  const { ERRORS } = await import("/viewer/test/overlays/errors.js");
  const errors = ERRORS.load(json), shown = errors.values(session, "after");
  const of = (id) => shown({ rec: { id } });
  const group = shown({ group: { at: 0 } });
  return { none: of("nowhere"), group: [errors.label(group), group.finding],
    ids: Object.keys(json.nodes).map((id) => [errors.label(of(id)), of(id).share]) };
}"""


def test_errors_are_coloured_by_decibels_and_marked_where_they_begin(
    opened: Callable[..., Page],
) -> None:
    page = opened("fixture=cnn8", reduced=True)
    steps = fixture("cnn8")[1]
    gone = {node for step in steps["steps"] for node in step["removed"]}
    first, second, third, *_ = (n["id"] for n in steps["nodes"] if n["id"] not in gone)
    document = {
        "step": len(steps["steps"]),
        "label": "step 9 against the source, 2 samples",
        "begins": [second],
        "nodes": {
            first: [None, 0, ""],
            second: [31.6, 0.04, "31.6 dB where 40 dB are allowed"],
            third: [-3, 2, ""],
        },
    }
    page.evaluate(
        "url => update({ overlays: { errors: { key: 'e', url } } })",
        "data:application/json," + quote(json.dumps(document)),
    )
    page.get_by_role("button", name="Errors of nodes as colours (x)").wait_for()
    page.locator(".pl-root").focus()
    page.keyboard.press("End")
    page.keyboard.press("x")
    rested(page)
    legend = page.get_by_role("group", name="Error of a node")
    expect(legend).to_contain_text("60 dB")
    expect(legend).to_contain_text("2 samples")
    page.evaluate("id => update({ seq: 2, select: [id] })", second)
    card = page.locator(".pl-details")
    expect(card.get_by_role("row", name="Signal to error")).to_contain_text("31.6 dB")
    expect(card.get_by_role("row", name="First")).to_contain_text("The error begins here")
    expect(card.get_by_role("row", name="Too much")).to_contain_text("40 dB are allowed")
    page.evaluate(SESSION, "cnn8")
    page.evaluate("session.goto(Infinity)")
    found = page.evaluate(VALUES, document)
    assert found["none"] is None
    assert found["group"] == ["−3 dB", "The error begins here"]
    assert [label for label, _ in found["ids"]] == ["", "32 dB", "−3 dB"]
    assert [share for _, share in found["ids"]] == [0, pytest.approx(1 - 31.6 / 60), 1]
