"""The graph is drawn before Streamlit has arrived, and stays where it is when it has."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from starlette.requests import Request

from studio import first_picture
from tests.coroutines import finished
from tests.studio.browsing import PATIENCE_MS, wait

PLACE = "#first-picture"
CANVAS = """(() => {
  const roots = [document];
  for (const root of roots)
    for (const el of root.querySelectorAll("*")) if (el.shadowRoot) roots.push(el.shadowRoot);
  return roots.flatMap((root) => [...root.querySelectorAll(".pl-pane canvas")]).at(-1);
})()"""
WHERE = f"(() => {{ const r = {CANVAS}.getBoundingClientRect(); return [r.x, r.y, r.width]; }})()"


class Held:
    """Streamlit's own modules, kept back until somebody lets them go."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._routes: list[Route] | None = []
        page.route(re.compile(r"/static/js/"), self._asked)

    def _asked(self, route: Route) -> None:
        if self._routes is None:
            route.continue_()
        else:
            self._routes.append(route)

    def let_go(self) -> None:
        """Let Streamlit come, and wait until it is there."""
        routes, self._routes = self._routes or [], None
        for route in routes:
            route.continue_()
        expect(self._page.locator(PLACE)).to_have_count(0, timeout=PATIENCE_MS)


@pytest.fixture
def held(page: Page) -> Held:
    """Nothing of Streamlit arrives yet."""
    return Held(page)


def opened(page: Page, address: str) -> None:
    page.goto(address, wait_until="commit")
    wait(page, "true")


def test_the_graph_is_drawn_and_steps_while_streamlit_is_still_on_its_way(
    page: Page, app_url: str, held: Held
) -> None:
    opened(page, f"{app_url}/?model=tour&step=3")
    wait(page, "window.__passlens.step === 3")
    expect(page.get_by_role("checkbox", name="Remove Identity")).to_be_checked()
    page.locator(".pl-root").focus()
    page.keyboard.press("ArrowRight")
    wait(page, "window.__passlens.step === 4")
    held.let_go()
    page.wait_for_url("**step=4**", timeout=PATIENCE_MS)
    assert page.evaluate("window.__passlens.errors") == []


def test_a_pass_switched_off_before_streamlit_arrived_is_off_once_it_has(
    page: Page, app_url: str, held: Held
) -> None:
    opened(page, f"{app_url}/?model=tour")
    page.get_by_role("checkbox", name="Remove Identity").click()
    held.let_go()
    page.wait_for_url("**off=eliminate-identity**", timeout=PATIENCE_MS)


@pytest.mark.parametrize(
    ("place", "scheme"),
    [
        ("", "light"),
        ("model", "dark"),
        pytest.param("", "dark", marks=pytest.mark.slow),
        pytest.param("model", "light", marks=pytest.mark.slow),
    ],
)
def test_streamlit_takes_the_picture_over_where_it_stands(
    page: Page, app_url: str, held: Held, place: str, scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    opened(page, f"{app_url}/{place}?model=tour")
    page.evaluate(f"window.__canvas = {CANVAS}")
    before = page.evaluate(WHERE)
    style = f"getComputedStyle({CANVAS}.closest('.pl-root'))"
    colours = page.evaluate(f"[{style}.backgroundColor, {style}.color, {style}.fontFamily]")
    held.let_go()
    expect(page.get_by_role("navigation").get_by_role("link", name="Run")).to_be_visible()
    assert page.evaluate(f"window.__canvas === {CANVAS}")
    assert page.evaluate(WHERE) == pytest.approx(before, abs=1)
    later = page.evaluate(f"[{style}.backgroundColor, {style}.color, {style}.fontFamily]")
    assert later[:2] == colours[:2]
    assert later[2].startswith(colours[2].partition(",")[0])


def test_the_bar_is_where_streamlit_will_draw_it(page: Page, app_url: str, held: Held) -> None:
    opened(page, f"{app_url}/?model=tour")
    links = (
        "[...document.querySelectorAll('.stAppHeader a')]"
        ".map(a => [a.innerText, a.getBoundingClientRect().x])"
    )
    before = dict(page.evaluate(links))
    held.let_go()
    page.wait_for_function(f"{links}.length === {len(before)}", timeout=PATIENCE_MS)
    after = dict(page.evaluate(links))
    assert list(after) == list(before)
    assert list(after.values()) == pytest.approx(list(before.values()), abs=3)


def test_a_page_with_nothing_to_draw_is_streamlits_from_the_start(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?model=0123456789abcdef")
    expect(page.get_by_text("This server has no model")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(PLACE)).to_have_count(0)


def test_streamlit_comes_even_if_the_viewer_does_not(page: Page, app_url: str) -> None:
    page.route(re.compile(r"/viewer/.*/boot\.js"), lambda route: route.abort())
    page.goto(f"{app_url}/?model=tour")
    link = page.get_by_role("navigation").get_by_role("link", name="Run")
    expect(link).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(PLACE)).to_have_count(0)


def test_a_link_cannot_write_markup_into_the_page(page: Page, app_url: str) -> None:
    hostile = "</script><script>document.title='PWNED'</script>"
    page.goto(f"{app_url}/?model=tour&on={hostile}&select={hostile}")
    wait(page, "true")
    assert page.title() != "PWNED"


def test_a_streamlit_we_do_not_understand_is_served_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = first_picture.Index("<html>other</html>", "", "", (), "")
    monkeypatch.setattr(first_picture, "_index", lambda: other)
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "headers": [],
    }
    page = first_picture._page(Request(scope))  # pyright: ignore[reportPrivateUsage]
    assert bytes(finished(page).body) == b"<html>other</html>"


def test_a_veto_before_streamlit_arrived_is_answered_once_it_has(
    page: Page, app_url: str, held: Held
) -> None:
    opened(page, f"{app_url}/?model=bert&step=250")
    wait(page, "window.__passlens.step === 250")
    page.get_by_role("button", name="Do not make this rewrite").click()
    held.let_go()
    expect(page.locator(".pl-toast")).to_contain_text("Vetoed.", timeout=PATIENCE_MS)


def test_what_was_scrolled_to_stays_in_sight_when_streamlit_takes_the_picture_over(
    page: Page, app_url: str, held: Held
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    opened(page, f"{app_url}/?model=bert&step=40&off=flatten-rows")
    wait(page, "window.__passlens.step === 40")
    page.get_by_role("button", name="declined 72").click()
    place = page.locator(".pl-place").first
    expect(place).to_be_in_viewport(ratio=1)
    held.let_go()
    expect(place).to_be_in_viewport(ratio=1)
