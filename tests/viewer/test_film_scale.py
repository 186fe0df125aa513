"""The axis of the film: one scale for all, honest where one of them is far larger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

SCALE = """async ([peaks, at]) => {
  const { makeScale } = await import("/viewer/test/film/scale.js");
  const s = makeScale(peaks, 1000);
  return { broken: s.broken, edge: s.edge, x: at.map((b) => s.x(b)) };
}"""
TEXTS = """async () => {
  const { ticks } = await import("/viewer/test/film/scale.js");
  const { timesText } = await import("/viewer/test/page/numbers.js");
  return {
    times: [1, 1.234, 15.24, 123.4].map(timesText),
    ticks: ticks(9.2 * 1048576, 6).map((t) => t.text), small: ticks(3000, 4).map((t) => t.text),
  };
}"""


@pytest.fixture
def page(opened: Callable[..., Page]) -> Page:
    """A page that has the modules."""
    return opened("fixture=cnn4&mode=film")


def scale(page: Page, peaks: list[int], at: list[int]) -> dict[str, Any]:
    """A scale a thousand pixels wide."""
    return page.evaluate(SCALE, [peaks, at])


def test_near_peaks_share_an_unbroken_axis(page: Page) -> None:
    found = scale(page, [140, 110, 100], [0, 70, 140])
    assert not found["broken"]
    assert found["x"] == [0, 500, 1000]


def test_a_far_larger_naive_goes_on_beyond_a_break(page: Page) -> None:
    found = scale(page, [7900, 110, 100], [0, 55, 110, 7900])
    assert found["broken"]
    zero, half, whole, most = found["x"]
    assert zero == 0
    assert whole == pytest.approx(2 * half)
    assert 700 < whole < 800
    assert most == pytest.approx(1000)


def test_addresses_keep_their_order_across_the_break(page: Page) -> None:
    places = list(range(0, 7901, 50))
    drawn = scale(page, [7900, 110, 100], places)["x"]
    assert drawn == sorted(drawn)


def test_an_axis_is_marked_in_one_binary_unit(page: Page) -> None:
    found = page.evaluate(TEXTS)
    assert found["times"] == ["1.00×", "1.23×", "15.2×", "123×"]
    assert found["ticks"] == ["0 MiB", "2", "4", "6", "8"]
    assert found["small"] == ["0 KiB", "1", "2"]
