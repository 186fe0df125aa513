"""Places are named by what tells them apart."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.studio.browsing import PATIENCE_MS

pytestmark = pytest.mark.browser

LAYER = ["attention/self/key", "attention/output/dense", "intermediate/dense", "output/dense"]
CASES = [
    (
        [f"/m/encoder/layer.{n}/{place}/Add" for n in range(12) for place in LAYER],
        [
            f"layer.{n}/{place}/Add"
            for n in range(12)
            for place in ("key", "attention/dense", "intermediate", "output")
        ],
    ),
    (["/a/Add", "/a/Add"], ["Add", "Add"]),
    (["/a/Add", "/a/Add_1"], ["Add", "Add_1"]),
    (["/a/a/x", "/a/b/x"], ["a/a/x", "b/x"]),
    (["Add"], ["Add"]),
    ([""], [""]),
]


def test_a_place_is_named_by_what_tells_it_from_the_others(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{address}/?fixture=folding")
    names = page.evaluate(
        """async (cases) => {
      const { placeNames } = await import("/viewer/test/trace/place-names.js");
      return cases.map(([paths]) => placeNames(paths));
    }""",
        [list(case) for case in CASES],
    )
    page.close()
    for (paths, wanted), got in zip(CASES, names, strict=True):
        assert got == wanted, paths
