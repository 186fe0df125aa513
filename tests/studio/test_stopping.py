"""Stopping the server while people look at it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import BrowserContext, expect

from tests.studio.browsing import PATIENCE_MS
from tests.studio.conftest import running_studio


def test_a_server_that_is_stopped_under_open_pages_says_nothing_of_its_insides(
    context: BrowserContext, tmp_path: Path
) -> None:
    with running_studio(tmp_path) as studio:
        for place in ("?model=swin", "memory?model=bert"):
            page = context.new_page()
            page.goto(f"{studio.url}/{place}")
            expect(page.get_by_role("navigation")).to_be_visible(timeout=PATIENCE_MS)
    said = (tmp_path / "server.log").read_text()
    assert "You can now view" in said
    for inside in ("Traceback", "pool is closed", "worker ended"):
        assert inside not in said
