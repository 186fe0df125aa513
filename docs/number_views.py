"""Where the pictures of layouts and precision are taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page

PATIENCE_MS = 240_000
_CLIPPED = "/m/mobilenet_v2/conv_stem/reduce_1x1/normalization/BatchNormalization_output_0"
_DRAWN = "window.__passlens?.ready && !window.__passlens.film && window.__passlens.step > 0"


def layout_device(page: Page, url: str) -> None:
    """A network of convolutions and attention, channels last."""
    _figures(page, url, "layout", model="detr", target="cuda")


def layout_padding(page: Page, url: str) -> None:
    """Blocks of sixteen channels, of which some are empty."""
    _figures(page, url, "layout", model="mobilenetv2", target="nc1hwc0")


def layout_profile(page: Page, url: str) -> None:
    """What a device lacks of a network, and what lowers it."""
    _figures(page, url, "layout", model="tour", target="matrix-engine")


def layout_transposes(page: Page, url: str) -> None:
    """Transposes of two megabytes, measured beside a plain copy."""
    page.goto(f"{url}/layout?{urlencode({'model': 'whisper-encoder', 'target': 'cpu'})}")
    measure = page.get_by_role("button", name="Measure Transposes")
    again = page.get_by_role("button", name="Run again")
    measure.or_(again).first.wait_for(timeout=PATIENCE_MS)
    if measure.count():
        measure.click()
    again.wait_for(timeout=PATIENCE_MS)
    page.wait_for_timeout(3000)


def ranges(page: Page, url: str) -> None:
    """An activation that some methods clip."""
    _figures(page, url, "precision", model="mobilenetv2", value=_CLIPPED)


def layers(page: Page, url: str) -> None:
    """What every value of a transformer loses in int8."""
    _figures(page, url, "precision", model="bert", precision="layers")


def keep_list(page: Page, url: str) -> None:
    """Nodes that float16 would take out of its range."""
    _figures(page, url, "precision", model="tour", precision="layers", numbers="float16")


def budget(page: Page, url: str) -> None:
    """A search for the smallest file that has ended, and the errors of its answer."""
    choice = {"precision": "budget", "goal": "size", "budget": "30 dB", "minutes": 4}
    page.goto(f"{url}/precision?{urlencode({'model': 'vit', **choice})}")
    search = page.get_by_role("button", name="Search", exact=True)
    shown = page.get_by_text("Plan shown")
    search.or_(shown).first.wait_for(timeout=PATIENCE_MS)
    page.wait_for_timeout(3000)
    if not shown.count():
        search.click()
    page.get_by_text("The search ended").first.wait_for(timeout=PATIENCE_MS)
    measure = page.get_by_role("button", name="Measure errors")
    started = page.get_by_text("the error starts here")
    measure.or_(started).first.wait_for(timeout=PATIENCE_MS)
    if not started.count():
        measure.click()
        started.first.wait_for(timeout=PATIENCE_MS)


def layouts(page: Page, url: str) -> None:
    """Layouts of a network in blocks, in the graph."""
    _figures(page, url, "layout", model="mobilenetv2", target="nc1hwc0")
    _in_the_graph(page, "l")


def types(page: Page, url: str) -> None:
    """Element types of a network in int8."""
    _figures(page, url, "precision", model="mobilenetv2", precision="layers")
    _in_the_graph(page, "y")


def errors(page: Page, url: str) -> None:
    """Where a network in int8 loses what."""
    _figures(page, url, "precision", model="mobilenetv2", precision="layers")
    _in_the_graph(page, "x")


def _figures(page: Page, url: str, place: str, **choice: Any) -> None:
    page.goto(f"{url}/{place}?{urlencode(choice)}")
    page.locator(".js-plotly-plot").first.wait_for(timeout=PATIENCE_MS)
    page.locator("[data-testid=stProgress]").first.wait_for(state="hidden", timeout=PATIENCE_MS)
    page.wait_for_timeout(3000)


def _in_the_graph(page: Page, key: str) -> None:
    """The steps of what is shown, with an overlay that is made behind them."""
    page.get_by_role("button", name="Open in Rewrite").click(timeout=PATIENCE_MS)
    page.wait_for_function(_DRAWN, timeout=PATIENCE_MS)
    verified = page.get_by_text("scale at worst").or_(page.get_by_text("Verified on"))
    verified.first.wait_for(state="attached", timeout=PATIENCE_MS)
    page.wait_for_timeout(6000)
    page.locator("canvas").first.click(position={"x": 5, "y": 5})
    page.keyboard.press(key)


VIEWS: Mapping[str, Callable[[Page, str], None]] = {
    "layout-device": layout_device,
    "layout-padding": layout_padding,
    "layout-profile": layout_profile,
    "layout-transposes": layout_transposes,
    "ranges": ranges,
    "layers": layers,
    "keep-list": keep_list,
    "budget": budget,
    "layouts": layouts,
    "types": types,
    "errors": errors,
}
OF_THE_GRAPH = frozenset({"layouts", "types", "errors"})
"""Views that do not scroll."""
