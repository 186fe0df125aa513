"""Makes the film in `docs/images/` from the running studio: `python -m docs.film URL`.

Start the studio first (`passlens studio --no-browser`). The browser's clock is ours, so that the
film runs evenly on any machine: it stands still while a frame is taken.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from docs.screenshots import FLAGS, IMAGES, PATIENCE_MS, SCHEMES, Scheme

LINK = "memory?model=resnet50&memory=film&sizes=batch:1"
SIZE = (1204, 760)
SPEED = "2"
FRAME_MS = 100
SECONDS = 10.4
HOLD_MS = 1400
COLOURS = 96
SAMPLES = 8
MOST_COUNTED = 400
"""Pixels of one colour that count in the palette: else large plain areas take it all."""

MOST_BYTES = 3_000_000


def frames(page: Page, url: str) -> Iterator[Image.Image]:
    """The allocator from its first event on, one picture every `FRAME_MS`."""
    page.goto(f"{url}/{LINK}")
    page.wait_for_function("window.__passlens?.ready && __passlens.film", timeout=3 * PATIENCE_MS)
    page.get_by_role("combobox", name="Playing speed").select_option(SPEED)
    page.wait_for_timeout(1500)
    workbench = page.locator(".pl-root")
    page.get_by_role("button", name="Home").click()
    page.wait_for_timeout(1500)
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.get_by_role("button", name="Play (space)").click()
    page.mouse.move(2, 2)
    for _ in range(int(SECONDS * 1000 / FRAME_MS)):
        yield Image.open(io.BytesIO(workbench.screenshot(animations="allow"))).convert("RGB")
        page.clock.run_for(FRAME_MS)


def save(pictures: list[Image.Image], path: Path) -> int:
    """Write them as a GIF that runs for ever.

    Returns:
        Its bytes.
    """
    palette = palette_of(pictures[:: max(1, len(pictures) // SAMPLES)])
    reduced = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    times = [FRAME_MS] * (len(reduced) - 1) + [HOLD_MS]
    reduced[0].save(
        path, save_all=True, append_images=reduced[1:], duration=times, loop=0, optimize=False
    )
    return path.stat().st_size


def palette_of(pictures: list[Image.Image]) -> Image.Image:
    """One palette for all, so that nothing flickers; small coloured text has its part in it."""
    pixels = b"".join(
        bytes(colour) * min(count, MOST_COUNTED)
        for picture in pictures
        for count, colour in picture.getcolors(1 << 24) or ()
        if isinstance(colour, tuple)
    )
    flat = Image.frombytes("RGB", (len(pixels) // 3, 1), pixels)
    return flat.quantize(COLOURS, dither=Image.Dither.NONE)


def take(browser: Browser, url: str, scheme: Scheme) -> None:
    """One film.

    Raises:
        ValueError: it became too large to be shown in a README.
    """
    width, height = SIZE
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1
    )
    path = IMAGES / f"film-{scheme}.gif"
    size = save(list(frames(context.new_page(), url)), path)
    context.close()
    print(f"docs/images/{path.name}: {size / 1e6:.2f} MB")
    if size > MOST_BYTES:
        raise ValueError(f"{path.name} has {size} bytes (limit {MOST_BYTES}); take fewer colours.")


def main(arguments: list[str]) -> int:
    """The film in light and dark."""
    url = arguments[0] if arguments else "http://127.0.0.1:8501"
    IMAGES.mkdir(exist_ok=True)
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for scheme in SCHEMES:
            take(browser, url, scheme)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
