"""Every page under axe, light and dark, with a model and without one.

`make browser` fetches axe-core as `tests/axe/package-lock.json` pins it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from studio.frame.places import HOME, PLACES
from tests.studio.browsing import PATIENCE_MS, POLLING_MS, visitor

pytestmark = pytest.mark.browser

Scheme = Literal["light", "dark"]
AXE = Path(__file__).parents[1] / "axe" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")
ALSO = frozenset({"presentation-role-conflict"})
"""Of little weight to axe; a person with a screen reader hears nonsense."""

DRAWN = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  const shown = document.querySelector('.stMain')?.innerText.trim() || window.__passlens?.ready;
  const waits = [...document.querySelectorAll('[data-testid=stProgress]')].some((bar) =>
    /^(Opening|Optimizing|Planning|Drawing|Assigning|Looking|Reading)/.test(bar.innerText));
  const blank = document.querySelector('[data-testid=stSkeleton], [data-stale=true]');
  const loops = !document.querySelector('.st-key-schedule-lab')
    || window.__passlens_schedule?.steps > 0;
  return Boolean(shown) && loops && !waits && !blank
    && app?.dataset.testScriptState === 'notRunning' && document.querySelector('.bar-share');
}"""
WEARS = """scheme =>
  getComputedStyle(document.querySelector('.stApp')).colorScheme === scheme
    && document.getAnimations().every((a) =>
      a.playState !== 'running' || a.effect.getTiming().iterations === Infinity)"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """One visitor for all pages, with axe in them."""
    if not AXE.is_file():
        pytest.skip("axe-core is not there; `make browser` fetches it")
    context = visitor(browser, viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.add_init_script(path=AXE)
    yield context.new_page()
    context.close()


def arrive(page: Page, app_url: str, place: str, *, model: str = "tour") -> None:
    """Go to a place and wait until its script has drawn it."""
    page.goto(f"{app_url}/{'' if place == HOME else place}?model={model}&step=5")
    page.wait_for_function(DRAWN, polling=POLLING_MS, timeout=PATIENCE_MS)


RULES: dict[Scheme, str] = {
    # What no landmark holds is of moderate weight to axe, never grave, and takes long to find.
    "light": "{ resultTypes: ['violations'], rules: { region: { enabled: false } } }",
    "dark": "{ resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block'] }",
}
"""The same elements are there in the dark: only their colours can be wrong once more."""


def findings(page: Page) -> list[str]:
    """What axe finds in the page as it stands, in both schemes."""
    found: list[str] = []
    for scheme, rules in RULES.items():
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(WEARS, arg=scheme, polling=POLLING_MS, timeout=PATIENCE_MS)
        page.wait_for_function(
            DRAWN, polling=POLLING_MS, timeout=PATIENCE_MS
        )  # figures are drawn anew
        result: dict[str, Any] = page.evaluate(f"axe.run({rules})")
        found += [
            f"{scheme}: {violation['id']} at {node['target']}: {node['failureSummary']}"
            for violation in result["violations"]
            if violation["impact"] in GRAVE or violation["id"] in ALSO
            for node in violation["nodes"]
        ]
    return found


@pytest.mark.parametrize("place", PLACES)
def test_a_page_has_no_grave_finding(page: Page, app_url: str, place: str) -> None:
    arrive(page, app_url, place)
    assert findings(page) == []


def test_the_regions_of_a_network_have_no_grave_finding(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?model=tour&section=generated")
    expect(page.get_by_text("would become kernels")).to_be_visible(timeout=PATIENCE_MS)
    page.wait_for_function(DRAWN, polling=POLLING_MS, timeout=PATIENCE_MS)
    assert findings(page) == []


def test_all_that_a_schedule_can_be_asked_has_no_grave_finding(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/schedule?loops=loop-order")
    page.get_by_role("button", name="Autoschedule", exact=True).click(timeout=PATIENCE_MS)
    expect(page.get_by_text("As the autoscheduler wrote it")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Compile", exact=True).click()
    expect(page.get_by_role("listbox", name="Loop nest")).to_be_visible(timeout=PATIENCE_MS)
    page.wait_for_function(DRAWN, timeout=PATIENCE_MS)
    assert findings(page) == []


@pytest.mark.parametrize("place", ["model", "rewrite", "run"])
def test_a_page_without_its_model_has_no_grave_finding(
    page: Page, app_url: str, place: str
) -> None:
    arrive(page, app_url, place, model="0123456789abcdef")
    expect(page.get_by_text("This server has no model")).to_be_visible(timeout=PATIENCE_MS)
    assert findings(page) == []


def test_what_opens_over_a_page_has_no_grave_finding(page: Page, app_url: str) -> None:
    arrive(page, app_url, "history")
    page.get_by_role("button", name="Tour: open another model").click()
    expect(page.get_by_role("menu")).to_be_visible()
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("dialog", name="Share")).to_be_visible()
    assert findings(page) == []
