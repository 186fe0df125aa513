"""Takes the pictures in `docs/images/` from the running studio: `python -m docs.screenshots URL`.

Start the studio first (`passlens studio --no-browser`) on a quiet machine: the Run page's picture
shows a real race.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parent / "images"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]
SIZE = (1440, 900)
PATIENCE_MS = 60_000
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


def model(page: Page, url: str) -> None:
    """The Model page with a network that has scopes."""
    page.goto(f"{url}/model?model=bert")
    _drawn(page)


def rewrite(page: Page, url: str) -> None:
    """A Conv and its BatchNorm in the middle of ResNet-50, just fused."""
    page.goto(f"{url}/?model=resnet50&step=5&before=previous")
    _drawn(page)


def run(page: Page, url: str) -> None:
    """A race of the source against the optimized model."""
    page.goto(f"{url}/run?model=mobilenetv2")
    figure = page.locator(".js-plotly-plot").first
    button = page.get_by_role("button", name="Run", exact=True).first
    figure.or_(button).first.wait_for(timeout=PATIENCE_MS)
    if not figure.count():  # a race is remembered: the second picture shows the first one's
        button.click()
        figure.wait_for(timeout=PATIENCE_MS)


def export(page: Page, url: str) -> None:
    """The Export page with its preview."""
    page.goto(f"{url}/export?model=resnet50")
    page.get_by_text("Picture").first.wait_for(timeout=PATIENCE_MS)
    page.wait_for_timeout(4000)


PAGES: dict[str, Callable[[Page, str], None]] = {
    "model": model,
    "rewrite": rewrite,
    "run": run,
    "export": export,
}


def _drawn(page: Page) -> None:
    page.wait_for_function(
        "window.__passlens && window.__passlens.ready && document.title", timeout=PATIENCE_MS
    )


def take(browser: Browser, url: str, name: str, scheme: Scheme) -> None:
    """One picture."""
    width, height = SIZE
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1
    )
    page = context.new_page()
    PAGES[name](page, url)
    page.wait_for_timeout(2500)
    page.screenshot(path=IMAGES / f"{name}-{scheme}.png")
    context.close()


def main(arguments: list[str]) -> int:
    """All pictures, light and dark."""
    url = arguments[0] if arguments else "http://127.0.0.1:8501"
    wanted = arguments[1:] or list(PAGES)
    IMAGES.mkdir(exist_ok=True)
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for name in wanted:
            for scheme in SCHEMES:
                take(browser, url, name, scheme)
                print(f"docs/images/{name}-{scheme}.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
