"""A node that another page names is selected and in sight, whatever is folded around it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from viewer_scripts import rested

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]

IN_SIGHT = """(id) => {
  const box = __passlensWhere(id, 1);
  const pane = [...shadow.querySelectorAll(".pl-pane > canvas")][1].getBoundingClientRect();
  return box?.kind === "node" && box.y > pane.y && box.y + box.height < pane.bottom;
}"""


@pytest.mark.parametrize("mode", ["model", "rewrite"])
def test_a_node_named_by_the_server_is_shown_even_in_a_closed_group(
    opened: Opened, mode: str
) -> None:
    page = opened(f"fixture=transformer12&mode={mode}")
    node = "n300"
    assert not page.evaluate(IN_SIGHT, node)
    page.evaluate(f"update({{ seq: 2, select: ['{node}'], step: 0 }})")
    page.wait_for_function(f"({IN_SIGHT})('{node}')")
    assert page.locator(".pl-details h2").text_content()


def test_the_same_answer_again_leaves_the_view_where_the_hand_put_it(opened: Opened) -> None:
    page = opened("fixture=transformer12&mode=model")
    page.evaluate("update({ seq: 2, select: ['n300'] })")
    page.wait_for_function(f"({IN_SIGHT})('n300')")
    page.keyboard.press("0")
    page.wait_for_function(f"!({IN_SIGHT})('n300')")
    page.evaluate("update({ seq: 2, select: ['n300'] })")
    rested(page)
    assert not page.evaluate(IN_SIGHT, "n300")
