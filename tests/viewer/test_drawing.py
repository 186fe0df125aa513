"""The drawing one sees as a file: the same picture, its text as text, nothing hostile in it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]
SVG = "{http://www.w3.org/2000/svg}"
DIFFERENT = """async ([text, count]) => {
  const load = async (url) => { const i = new Image(); i.src = url; await i.decode(); return i; };
  const image = await load(URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })));
  const shares = [];
  let left = 0;
  for (const pane of [...shadow.querySelectorAll(".pl-pane > canvas")].slice(-count)) {
    const [w, h] = [pane.width, pane.height];
    const drawn = document.createElement("canvas");
    drawn.width = w;
    drawn.height = h;
    const c = drawn.getContext("2d");
    c.drawImage(image, -left, -30);
    left += w + 1;
    const [a, b] = [c, pane.getContext("2d")].map((x) => x.getImageData(0, 0, w, h).data);
    let off = 0, ink = 0;
    for (let i = 0; i < a.length; i += 4) {
      const far = (p, q) => Math.abs(p[i] - q) + Math.abs(p[i + 1] - q) + Math.abs(p[i + 2] - q);
      if (far(b, 255) > 60) ink++;
      if (Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) > 120) off++;
    }
    shares.push([off / (w * h), ink / (w * h)]);
  }
  return shares;
}"""


def saved(page: Page, kind: str) -> Path:
    """The file that the viewer's own button makes."""
    page.get_by_role("button", name="Save this drawing").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save the drawing one sees as {kind}").click()
    return Path(download.value.path()).rename(
        Path(download.value.path()).with_name(download.value.suggested_filename)
    )


@pytest.mark.parametrize("keys", [[], ["2", "+", "+"], ["Alt+ArrowDown", "Alt+ArrowDown"]])
def test_an_svg_shows_what_the_panes_show(opened: Opened, keys: list[str]) -> None:
    page = opened("fixture=cnn8&step=12", reduced=True)
    for key in keys:
        page.keyboard.press(key)
    path = saved(page, "SVG")
    assert path.name == "cnn8-step-12.svg"
    root = ET.fromstring(path.read_text())  # noqa: S314 - our own file
    panes = 1 if "2" in keys else 2
    assert len(root.findall(f"{SVG}svg")) == panes
    texts = {el.text for el in root.iter(f"{SVG}text")}
    assert {"Conv", "Add"} <= texts
    assert any("12" in (text or "") for text in texts)
    for off, ink in page.evaluate(DIFFERENT, [path.read_text(), panes]):
        assert ink > 0.02
        assert off < ink / 4


def test_a_png_holds_both_panes_at_twice_the_size(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=12", reduced=True)
    data = saved(page, "PNG").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(data[i : i + 4], "big") for i in (16, 20))
    sizes = page.evaluate(
        "[...shadow.querySelectorAll('.pl-pane > canvas')].map((c) => [c.width, c.height])"
    )
    assert width == 2 * (sizes[0][0] + sizes[1][0] + 1)
    assert height == 2 * (sizes[0][1] + 30)


def test_names_that_are_markup_stay_text_in_a_drawing(opened: Opened) -> None:
    page = opened("fixture=hostile&step=1", reduced=True)
    root = ET.fromstring(saved(page, "SVG").read_text())  # noqa: S314 - our own file
    names = {el.tag.removeprefix(SVG) for el in root.iter()}
    assert names <= {"svg", "title", "rect", "g", "path", "text", "clipPath"}
    assert any("<img" in (el.text or "") for el in root.iter(f"{SVG}text"))
