"""A rule that failed stands in the list of passes, with its error and its place in the graph."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from viewer_server import optimized, serve

from tests.optimizer.rewrite.failing import planted

pytestmark = pytest.mark.browser
BUG = "Bug of the rule RaisesAtOnce: it raised an error and was asked no more"
ERROR = "KeyError: 'no scale for Relu' (failing.py, line"


def test_a_failed_rule_is_told_where_near_misses_are_with_its_error_and_its_place(
    opened: Callable[..., Page],
) -> None:
    with planted():
        serve("failed", *optimized("tour", "default"))
    page = opened("fixture=failed&step=0")
    expect(page.locator(".pl-card")).to_contain_text("2 rules failed")
    page.get_by_role("button", name="failed 2").click()
    expect(page.locator(".pl-reason.pl-failed")).to_have_count(2)
    page.locator(".pl-reason", has_text=BUG).click()
    expect(page.locator(".pl-places")).to_contain_text(ERROR)
    page.wait_for_function("__passlens.marked === 1")
    page.locator(".pl-place").click()
    card = page.locator(".pl-looked")
    expect(card).to_contain_text("Break in the middle")
    expect(card).to_contain_text(f"{BUG}: {ERROR}")
