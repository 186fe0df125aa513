"""A model that is being opened while one looks at another page: the bar says what becomes of it."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from playwright.sync_api import Page, expect

from optimizer.errors import Cancelled, StudioError
from studio.artifacts.opened import OpenedModel
from studio.frame.bar import about_opening
from studio.model.chooser import Attempt
from studio.tasks import Task
from tests.studio.browsing import PATIENCE_MS, opened, wait

MANY = 20_000  # nodes: some seconds


def test_the_bar_says_what_becomes_of_a_model() -> None:
    def told(task: Task[OpenedModel]) -> str:
        return about_opening(Attempt("path", "net.onnx", task, "tour"))

    assert about_opening(None) == ""
    assert told(Task()) == "Opening net.onnx"
    assert told(Task.failed(StudioError("no"))) == "Not opened: net.onnx"
    assert told(Task.failed(Cancelled("stopped"))) == ""


@pytest.mark.browser
def test_a_model_that_takes_long_is_told_of_on_other_pages_and_opened_from_there(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    lines = "".join(f"v{i + 1} = Relu (v{i})\n" for i in range(MANY))
    text = f'<ir_version: 8, opset_import: ["" : 17]> main (float[2] v0) => (float[2] v{MANY})'
    path = tmp_path / "many.onnx"
    onnx.save(onnx.parser.parse_model(f"{text} {{ {lines} }}"), path)
    opened(page, f"{app_url}/model?model=tour")
    page.get_by_role("textbox", name="Path on this machine").fill(str(path))
    page.keyboard.press("Enter")
    expect(page.get_by_role("progressbar")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("navigation").get_by_role("link", name="History").click()
    note = page.locator(".bar-opening")
    expect(note).to_contain_text("many.onnx", timeout=PATIENCE_MS)
    expect(note).to_have_text("Ready: many.onnx", timeout=PATIENCE_MS)
    expect(page).to_have_url(f"{app_url}/history?model=tour")
    note.get_by_role("button").click()
    wait(page, f"window.__passlens.total === {MANY}")
    expect(note).to_be_empty()
