"""Walks a newcomer's way through the running studio: `python -m docs.visit URL FOLDER`.

Every stop is a picture in the folder, at 1280 and 1600 px, light and dark, for somebody to look at.
What a stop must show is waited for: a walk that ends has seen everything.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from docs.screenshots import FLAGS, PATIENCE_MS, SCHEMES

SIZES = ((1280, 800), (1600, 1000))
REST_MS = 1200
DRAWN = "window.__passlens?.ready && document.title"


def first_picture(page: Page) -> None:
    """The top of a large network, both panes at the same nodes."""
    _rewrite(page, "model=swin")


def declined(page: Page) -> None:
    """Near misses, by reason and place."""
    _rewrite(page, "model=bert")
    page.get_by_role("button", name="declined 72").click()


def group(page: Page) -> None:
    """What happened to the attention of layer 3."""
    _rewrite(page, "model=bert")
    page.keyboard.press("/")
    page.keyboard.type("encoder.layer.3.attention")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Play only these")).to_be_visible()


def selected_node(page: Page) -> None:
    """A node whose steps are lit in the strip."""
    _rewrite(page, "model=bert&step=217")
    for _ in range(2):
        page.keyboard.press("Alt+ArrowDown")
    expect(page.get_by_role("region", name="Selected node")).to_be_visible()


def crowded_strip(page: Page) -> None:
    """Far more rewrites than pixels, and a few that tower over all others."""
    _rewrite(page, "model=detr")


def two_pipelines(page: Page) -> None:
    """What one preset makes beside what another makes."""
    _rewrite(page, "model=bert&versus=runtime")
    expect(page.get_by_text("Only with runtime")).to_be_visible(timeout=PATIENCE_MS)


def saved_drawing(page: Page) -> None:
    """The drawing one sees, as a file."""
    _rewrite(page, "model=tour&step=20")
    page.get_by_role("button", name="Save this drawing").click()


def share(page: Page) -> None:
    """The link of what one sees."""
    _rewrite(page, "model=tour&step=20")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("dialog", name="Share")).to_be_visible()


def models(page: Page) -> None:
    """Other models, a click away."""
    _rewrite(page, "model=tour")
    page.get_by_role("button", name="Tour: open another model").click()
    expect(page.get_by_role("menuitemradio", name="Mamba")).to_be_visible()


def memory(page: Page) -> None:
    """A plan at assumed sizes, without a click."""
    page.goto("/memory?model=gpt2")
    _plotted(page)


def run(page: Page) -> None:
    """A recording, until there is a race of one's own."""
    page.goto("/run?model=bert")
    _plotted(page)


def generated_kernels(page: Page) -> None:
    """The regions of a network that nothing was decided about."""
    page.goto("/run?model=gpt2&section=generated")
    expect(page.get_by_text("would become kernels")).to_be_visible(timeout=PATIENCE_MS)


def options(page: Page) -> None:
    """Options found by a word."""
    page.goto("/run?model=bert")
    _plotted(page)
    page.get_by_placeholder("Find an option").fill("thread")
    page.keyboard.press("Enter")


def cost(page: Page) -> None:
    """What passes bought, while this CPU is being measured."""
    page.goto("/cost?model=mobilenetv2")
    _plotted(page)


def history(page: Page) -> None:
    """Recordings that come along."""
    page.goto("/history")
    page.locator("[data-testid=stDataFrame]").first.wait_for(timeout=PATIENCE_MS)


STOPS: tuple[Callable[[Page], None], ...] = (
    first_picture, declined, group, selected_node, crowded_strip, two_pipelines, saved_drawing,
    share, models, memory, run, generated_kernels, options, cost, history,
)  # fmt: skip


def _rewrite(page: Page, query: str) -> None:
    page.goto(f"/?{query}")
    page.wait_for_function(DRAWN, timeout=PATIENCE_MS)
    expect(page.get_by_role("button", name="Share")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_text("Verified on").first.wait_for(timeout=2 * PATIENCE_MS)


def _plotted(page: Page) -> None:
    page.locator(".js-plotly-plot").first.wait_for(timeout=2 * PATIENCE_MS)


def main(arguments: list[str]) -> int:
    """Every stop, in a browser that has never been there."""
    url, folder = arguments[0], Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for (width, height), scheme, stop in product(SIZES, SCHEMES, STOPS):
            context = browser.new_context(
                base_url=url, color_scheme=scheme, viewport={"width": width, "height": height}
            )
            page = context.new_page()
            stop(page)
            page.wait_for_timeout(REST_MS)
            page.screenshot(path=folder / f"{stop.__name__}-{width}-{scheme}.png")
            print(f"{stop.__name__}-{width}-{scheme}", flush=True)
            context.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
