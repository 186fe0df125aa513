"""Scripts that several tests run in the browser."""

from __future__ import annotations

from playwright.sync_api import Page

SESSION = """async (name) => {
  const at = (file) => import(`/viewer/test/${file}.js`);
  const { Session } = await at("session/session"), { Metrics } = await at("layout/metrics");
  const get = async (url) => (await fetch(url)).json();
  const graph = await get(`/graph/${name}.json`), steps = await get(`/steps/${name}.json`);
  const s = new Session(graph, steps, new Metrics({ text: (t) => t.length * 6.5 }, "sans-serif"));
  s.goto(0);
  window.session = s;
  return { boxes: s.picture("after").nodes, open: s.tree.openIds().length };
}"""


def rested(page: Page) -> None:
    """Wait until nothing moves, nothing is about to be drawn, and no group is about to open."""
    page.wait_for_function("__passlens.resting")


def told(page: Page) -> None:
    """Wait until the page has heard all that the viewer has to say."""
    page.wait_for_function("!__passlens.untold")
