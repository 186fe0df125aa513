"""Pictures and the film of the page Schedule: `python -m docs.schedule_views URL` makes the film.

What moves is stopped, and set to one moment after the other: the film runs evenly on any machine.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parent / "images"
PATIENCE_MS = 120_000
SIZE = (1204, 760)
FRAME_MS, MOTION_MS, HOLD_FRAMES = 80, 320, 9
_DRAWN = "window.__passlens_schedule?.steps > 0"
_STOP = """() => {
  const roots = (within) => [...within.querySelectorAll("*")].flatMap((el) =>
    el.shadowRoot ? [el.shadowRoot, ...roots(el.shadowRoot)] : []);
  const moving = roots(document).flatMap((root) => root.getAnimations());
  for (const one of moving) one.pause();
  window.__moving = moving;
}"""
_AT = "(ms) => { for (const one of window.__moving) one.currentTime = ms; }"
_END = "() => { for (const one of window.__moving) one.finish(); }"


def schedule(page: Page, url: str) -> None:
    """The blur in tiles, with vectors."""
    _goto(page, url, "loops=blur")


def schedule_step(page: Page, url: str) -> None:
    """What one split of many has changed."""
    _goto(page, url, "loops=harris&at=9")


def schedule_refused(page: Page, url: str) -> None:
    """A primitive that cannot be applied since one before it is off."""
    _goto(page, url, "loops=blur&order=tiled")
    page.get_by_role("checkbox", name="Apply blur_y.split(x, xo, xi, 32)").uncheck()
    page.get_by_text("Left out: ").first.wait_for(timeout=PATIENCE_MS)


VIEWS: Mapping[str, Callable[[Page, str], None]] = {
    "schedule": schedule,
    "schedule-step": schedule_step,
    "schedule-refused": schedule_refused,
}


def _goto(page: Page, url: str, query: str) -> None:
    page.goto(f"{url}/schedule?{query}")
    page.wait_for_function(_DRAWN, timeout=PATIENCE_MS)
    page.wait_for_timeout(1500)


def frames(page: Page, url: str) -> Iterator[Image.Image]:
    """Every step of the blur, from none to the last."""
    _goto(page, url, "loops=blur")
    lab = page.locator(".sl-root")
    page.keyboard.press("Home")
    page.wait_for_timeout(1000)
    yield from [_picture(lab.screenshot())] * HOLD_FRAMES
    for _ in range(page.evaluate("window.__passlens_schedule.steps")):
        page.keyboard.press("ArrowRight")
        page.evaluate(_STOP)
        for ms in range(FRAME_MS, MOTION_MS, FRAME_MS):
            page.evaluate(_AT, ms)
            yield _picture(lab.screenshot(animations="allow"))
        page.evaluate(_END)
        yield from [_picture(lab.screenshot(animations="allow"))] * HOLD_FRAMES


def _picture(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


def main(arguments: list[str]) -> int:
    """The film in light and dark."""
    from docs.film import save  # it has pictures of its own
    from docs.screenshots import FLAGS, SCHEMES

    url = arguments[0] if arguments else "http://127.0.0.1:8501"
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser: Browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for scheme in SCHEMES:
            width, height = SIZE
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            path = IMAGES / f"schedule-film-{scheme}.gif"
            size = save(list(frames(context.new_page(), url)), path)
            print(f"docs/images/{path.name}: {size / 1e6:.2f} MB")
            context.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
