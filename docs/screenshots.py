"""Takes the pictures in `docs/images/` from the running studio: `python -m docs.screenshots URL`.

Start the studio first (`passlens studio --no-browser`) on a quiet machine: the figures show real
measurements. Further arguments name the pictures to take; `docs/pictures.py` has their titles.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from docs.number_views import OF_THE_GRAPH, VIEWS
from docs.schedule_views import VIEWS as SCHEDULES

IMAGES = Path(__file__).parent / "images"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--font-render-hinting=none"]
SIZE = (1440, 900)
PATIENCE_MS = 60_000
LONGEST_PX = 2600
BAR_PX = 60
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


def catalogue(page: Page, url: str) -> None:
    """Layer normalization in the catalogue of passes, counted in BERT."""
    page.goto(f"{url}/passes?model=bert&pass=recognize-layer-norm")
    page.get_by_text("would fire in the source of").wait_for(timeout=PATIENCE_MS)
    page.wait_for_timeout(1500)


def run(page: Page, url: str) -> None:
    """A race of the source against both presets."""
    page.goto(f"{url}/run?model=resnet50&race=source,last,runtime&seconds=60")
    _measured(page)


def sweep(page: Page, url: str) -> None:
    """The same race at several batch sizes."""
    page.goto(f"{url}/run?model=mobilenetv2&sweep=batch:1,2,4,8")
    _measured(page)


def timeline(page: Page, url: str) -> None:
    """Where the time goes, operator by operator."""
    page.goto(f"{url}/run?model=bert&section=timeline")
    _measured(page)


def memory(page: Page, url: str) -> None:
    """Memory over a run."""
    page.goto(f"{url}/run?model=resnet50&section=memory")
    _measured(page)


def kernels(page: Page, url: str) -> None:
    """Hot operators and their candidates."""
    page.goto(f"{url}/run?model=mobilenetv2&section=kernels&seconds=60")
    _measured(page)


def generated(page: Page, url: str) -> None:
    """Which regions become kernels, and what was decided in the whole network.

    After `passlens kernels bert --whole` with the same records.
    """
    page.goto(f"{url}/run?model=bert&section=generated")
    page.get_by_text("would become kernels").wait_for(timeout=3 * PATIENCE_MS)
    page.get_by_role("button", name="Write the folder").wait_for(timeout=PATIENCE_MS)


def generated_code(page: Page, url: str) -> None:
    """One region: its race, the tree from tuning to algorithm, its schedule."""
    generated(page, url)
    page.get_by_role("combobox", name="Region").click()
    page.keyboard.type("norm of 3")
    page.keyboard.press("Enter")
    page.get_by_text("Add + Add + LayerNormalization").first.wait_for(timeout=PATIENCE_MS)
    page.get_by_role("tab", name="Schedule").click()


def advice(page: Page, url: str) -> None:
    """A race of a network with kernels, and the options that it advises."""
    page.goto(f"{url}/run?model=bert&race=source,generated&as=deployed&seconds=20")
    _measured(page)


def capture(page: Page, url: str) -> None:
    """Whether the variants can be captured into a CUDA graph."""
    page.goto(f"{url}/run?model=gpt2&section=capture")
    page.get_by_text("cannot be captured").or_(page.get_by_text("can be captured")).first.wait_for(
        timeout=PATIENCE_MS
    )


def waterfall(page: Page, url: str) -> None:
    """What every pass bought, on paper."""
    _cost(page, url)


def measured_waterfall(page: Page, url: str) -> None:
    """What every pass bought, in milliseconds."""
    _cost(page, url, "Measured")
    _measured(page)


def ablation(page: Page, url: str) -> None:
    """What is lost without a pass."""
    _cost(page, url, "Ablation")
    _measured(page)


def break_even(page: Page, url: str) -> None:
    """After how many inferences optimizing has paid."""
    _cost(page, url, "Break-even")
    _measured(page)


def history(page: Page, url: str) -> None:
    """What was measured so far."""
    page.goto(f"{url}/history")
    page.locator("[data-testid=stDataFrame]").first.wait_for(timeout=PATIENCE_MS)


def comparison(page: Page, url: str) -> None:
    """Two recordings of ResNet-50 side by side."""
    _found(page, url, "resnet50", rows=2)
    page.get_by_text("apart").first.wait_for(timeout=PATIENCE_MS)


def kernels_applied(page: Page, url: str) -> None:
    """What won for single operators, tried on the whole model; a recording, made by hand."""
    _found(page, url, "Whole model", rows=1)
    page.locator(".st-key-history-open button").click()
    page.locator(".js-plotly-plot").first.wait_for(timeout=PATIENCE_MS)


def raced_ablation(page: Page, url: str) -> None:
    """What is lost without a pass, in milliseconds."""
    _cost(page, url, "Ablation")
    page.get_by_text("Race the latencies, too").click()
    page.wait_for_timeout(1500)
    _measured(page)


def times(page: Page, url: str) -> None:
    """Node times as colours on the Rewrite page."""
    page.goto(f"{url}/?model=bert")
    _drawn(page)
    page.locator("canvas").first.click(position={"x": 5, "y": 5})
    page.keyboard.press("t")


def memory_map(page: Page, url: str) -> None:
    """Addresses over steps, before and after."""
    _planned(page, url, "model=mobilenetv2&memory=map")


def memory_planners(page: Page, url: str) -> None:
    """Every planner on one graph."""
    _planned(page, url, "model=mobilenetv2&memory=planners")


def memory_order(page: Page, url: str) -> None:
    """What is alive in four orders of the nodes."""
    _planned(page, url, "model=detr&memory=order&search=5")


def film(page: Page, url: str) -> None:
    """The lazy allocator in the middle of a run, beside naive and best."""
    page.goto(f"{url}/memory?model=resnet50&sizes=batch:1&memory=film")
    page.wait_for_function("window.__passlens?.ready && __passlens.film", timeout=3 * PATIENCE_MS)
    page.get_by_role("button", name="Home").click()
    for _ in range(14):
        page.keyboard.press("ArrowRight", delay=150)


def roofline(page: Page, url: str) -> None:
    """Every node under the roofs of a data sheet, before and after."""
    page.goto(f"{url}/cost?model=mobilenetv2&cost=roofline&device=h200")
    page.locator(".js-plotly-plot").first.wait_for(timeout=2 * PATIENCE_MS)
    page.wait_for_timeout(4000)


def predicted(page: Page, url: str) -> None:
    """What every pass buys in predicted time."""
    page.goto(f"{url}/cost?model=bert&count=predicted&device=h200")
    page.locator(".js-plotly-plot").first.wait_for(timeout=2 * PATIENCE_MS)


def fusion(page: Page, url: str) -> None:
    """Why a fusion pays: trips to memory, predicted time, and a race."""
    page.goto(f"{url}/cost?model=resnet50&cost=fusion")
    page.locator(".js-plotly-plot").first.wait_for(timeout=2 * PATIENCE_MS)
    _measured(page)


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
    "passes": catalogue,
    "sweep": sweep,
    "timeline": timeline,
    "memory": memory,
    "kernels": kernels,
    "generated": generated,
    "generated-code": generated_code,
    "advice": advice,
    "capture": capture,
    "waterfall": waterfall,
    "measured-waterfall": measured_waterfall,
    "ablation": ablation,
    "break-even": break_even,
    "times": times,
    "history": history,
    "comparison": comparison,
    "kernels-applied": kernels_applied,
    "raced-ablation": raced_ablation,
    "memory-map": memory_map,
    "memory-planners": memory_planners,
    "memory-order": memory_order,
    "film": film,
    "roofline": roofline,
    "predicted": predicted,
    "fusion": fusion,
    **VIEWS,
    **SCHEDULES,
}
WHOLE = (
    frozenset(PAGES)
    - frozenset(SCHEDULES)
    - {"model", "rewrite", "export", "passes", "times", "film"}
    - OF_THE_GRAPH
)
"""Pages that scroll: their pictures are as long as they are."""


def _cost(page: Page, url: str, *choices: str) -> None:
    page.goto(f"{url}/cost?model=bert")
    page.get_by_role("radio", name="Waterfall").wait_for(timeout=PATIENCE_MS)
    for choice in choices:
        page.get_by_role("radio", name=choice, exact=True).click()
        page.wait_for_timeout(1500)


def _planned(page: Page, url: str, choices: str) -> None:
    page.goto(f"{url}/memory?{choices}&sizes=batch:1")
    page.locator(".js-plotly-plot").first.wait_for(timeout=3 * PATIENCE_MS)
    page.wait_for_timeout(3000)


def _found(page: Page, url: str, text: str, *, rows: int) -> None:
    """The first rows of the History page that a text finds, selected."""
    page.goto(f"{url}/history")
    page.get_by_role("textbox", name="Text").fill(text)
    page.keyboard.press("Enter")
    page.get_by_text("found").first.wait_for(timeout=PATIENCE_MS)
    page.wait_for_timeout(2500)
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box is not None
    for row in range(rows):
        page.mouse.click(box["x"] + 16, box["y"] + 46 + 31 * row)
        page.wait_for_timeout(1500)


def _measured(page: Page) -> None:
    """Start the measurement unless it is remembered from the picture before, and wait for it."""
    start = page.locator("[class*=st-key-start] button")
    again = page.locator("[class*=st-key-again] button")
    start.or_(again).first.wait_for(timeout=PATIENCE_MS)
    if start.count():
        start.first.click()
    again.first.wait_for(timeout=5 * PATIENCE_MS)


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
    if name in WHOLE:
        length = page.evaluate(
            "document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight"
        )
        page.set_viewport_size({"width": width, "height": min(LONGEST_PX, length + BAR_PX)})
        page.wait_for_timeout(1500)
    page.screenshot(path=IMAGES / f"{name}-{scheme}.png")
    context.close()


def main(arguments: list[str]) -> int:
    """All pictures, light and dark."""
    url = arguments[0] if arguments else "http://127.0.0.1:8501"
    wanted = arguments[1:] or list(PAGES)
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
