"""The address says which step is shown, whatever passes are switched."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page

from tests.studio import browsing
from tests.studio.browsing import PATIENCE_MS

pytestmark = pytest.mark.browser


def test_the_step_is_in_the_address_again_once_a_pass_was_switched(
    page: Page, app_url: str
) -> None:
    browsing.opened(page, f"{app_url}/?model=tour&step=20", "__passlens.step === 20")
    page.locator("input[data-pass=eliminate-dropout]").uncheck()
    page.wait_for_url(re.compile("off=eliminate-dropout.*step=20"), timeout=PATIENCE_MS)
    card = page.locator(".pl-card > p").first
    assert card.inner_text().startswith("Step 20 of 52")
    browsing.opened(page, page.url, "__passlens.step === 20")
    assert card.inner_text().startswith("Step 20 of 52")
