"""What would fire now: every pass asked about the step that is shown, and a pipeline as a file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from studio.artifacts.contents import MODELS
from studio.artifacts.preview import PREVIEW
from tests.studio.browsing import PATIENCE_MS, POLLING_MS, opened
from tests.studio.conftest import RunningStudio

pytestmark = pytest.mark.browser


def test_passes_say_how_often_they_would_fire_and_a_pipeline_goes_to_a_file_and_back(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    opened(page, f"{app_url}/?model=tour&step=0", "__passlens.step === 0")
    toggle = page.get_by_role("button", name="What would fire now")
    toggle.press("Enter")
    said = page.locator(".pl-whatif [role=status]")
    expect(said).to_contain_text("In the source")
    expect(toggle).to_be_focused()
    first = page.locator("button.pl-would").first
    expect(first).to_have_text("1×")
    first.click()
    page.wait_for_function("__passlens.marked === 1")
    page.get_by_role("button", name="Next ▸: Select the next place").click()
    page.wait_for_function("__passlens.selected !== null")
    expect(page.locator(".pl-looked h3")).to_contain_text("looked at this node")
    page.get_by_role("button", name="Last step").click()
    expect(said).to_contain_text("At step")

    with page.expect_download() as saving:
        page.get_by_role("button", name="Save this pipeline").click()
    saved = json.loads(saving.value.path().read_text())
    assert saved["schema"] == "passlens.pipeline/1"
    kept = [entry for entry in saved["passes"] if entry["id"] == "eliminate-identity"]
    unknown: list[dict[str, Any]] = [{"id": "no-pass", "options": {}}]
    for passes, name in ((kept, "small.json"), (unknown, "bad.json")):
        (tmp_path / name).write_text(json.dumps({**saved, "passes": passes}))
    with page.expect_file_chooser() as choosing:
        page.get_by_role("button", name="Open a pipeline").click()
    choosing.value.set_files(tmp_path / "bad.json")
    expect(page.locator(".pl-note.pl-bad")).to_contain_text("There is no pass 'no-pass'")
    with page.expect_file_chooser() as choosing:
        page.get_by_role("button", name="Open a pipeline").click()
    choosing.value.set_files(tmp_path / "small.json")
    expect(page.locator(".pl-pass input:checked")).to_have_count(1)


def test_what_can_be_said_soon_is_shown_while_the_others_are_asked(
    page: Page, app_url: str
) -> None:
    held: list[Route] = []

    def take_last(route: Route) -> None:
        answer = route.fetch(url=f"{route.request.url}?all")
        told = answer.json()
        told["unasked"] = [told["passes"].pop()["pass_id"]]
        headers = {**answer.headers, "cache-control": "no-store"}
        route.fulfill(response=answer, headers=headers, json=told)

    page.set_viewport_size({"width": 1280, "height": 800})
    opened(page, f"{app_url}/?model=tour&step=0", "__passlens.step === 0")
    asking = page.get_by_role("button", name="What would fire now")
    expect(asking).to_be_visible()
    page.route("**/what-if/**/*.json", take_last)
    page.route("**/what-if/**/*.json?all", lambda route: held.append(route))
    asking.press("Enter")
    said = page.locator(".pl-whatif [role=status]")
    expect(said).to_contain_text("so far; 1 pass is still being asked.")
    soon = _firing(said)
    expect(page.locator("button.pl-would").first).to_have_text("1×")
    for _ in range(PATIENCE_MS // POLLING_MS):
        if held:
            break
        page.wait_for_timeout(POLLING_MS)
    (route,) = held
    route.continue_()
    expect(said).not_to_contain_text("so far")
    assert _firing(said) == soon + 1 > 1


def test_what_passes_would_do_where_somebody_rests_is_there_before_they_ask(
    page: Page, studio: RunningStudio
) -> None:
    questions: list[Request] = []
    page.on("request", lambda request: questions.append(request))
    opened(page, f"{studio.url}/?model=tour&preset=cpu&step=2", "__passlens.step === 2")
    with page.expect_response("**/what-if/*/*/3/ahead") as told:
        page.get_by_role("button", name="Next step").click()
    *_, model, run, _, _ = told.value.url.split("/")
    answer = studio.cache / MODELS / model / run / PREVIEW.name(3)
    for _ in range(PATIENCE_MS // POLLING_MS):
        if answer.is_dir():
            break
        page.wait_for_timeout(POLLING_MS)
    assert answer.is_dir()
    assert not [one.url for one in questions if re.search(r"what-if/.*\.json", one.url)]


def _firing(said: Locator) -> int:
    """How many passes would fire, as the line says."""
    found = re.search(r"(\d+) pass", said.inner_text())
    assert found is not None
    return int(found[1])
