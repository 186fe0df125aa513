"""The order of the passes: changed by hand and by keyboard, in the link, and in the file."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from optimizer.pipeline import Pipeline
from studio.viewing import changed_pipeline
from studio.workspace import Workspace, from_query, to_query
from tests.studio.browsing import PATIENCE_MS, opened, wait_for_all


@pytest.mark.usefixtures("own_store")
def test_passes_in_another_order_are_a_pipeline_of_their_own() -> None:
    plain = Workspace()
    ids = Pipeline.of("default").ids
    assert plain.running_order() == ids
    turned = changed_pipeline(plain, {"order": [*reversed(ids)]})
    assert turned.running_order() == tuple(reversed(ids))
    assert from_query(to_query(turned)).pipeline() == turned.pipeline()
    off = turned.with_pass(ids[3], enabled=False)
    assert off.running_order() == tuple(i for i in reversed(ids) if i != ids[3])
    assert off.with_pass(ids[3], enabled=True).running_order() == tuple(reversed(ids))
    last = turned.with_order(ids[2:])
    assert last.running_order()[-2:] == (ids[1], ids[0]), "those not named keep their order"
    assert turned.with_order(ids).plan == "", "the usual order needs no plan"


@pytest.mark.browser
def test_a_pass_is_moved_by_the_keyboard_and_by_hand(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    opened(page, f"{app_url}/?model=tour", "__passlens.step > 0")
    page.get_by_role("button", name="Order").click()
    rows = page.locator(".pl-order li")
    first, second = (rows.nth(i).locator(".pl-name").inner_text() for i in (0, 1))
    rows.nth(0).get_by_role("button").press("ArrowDown")
    expect(rows.nth(1).locator(".pl-name")).to_have_text(first)
    expect(rows.nth(1).get_by_role("button")).to_be_focused()
    page.wait_for_url("**plan=*", timeout=PATIENCE_MS)
    expect(page.locator(".pl-order .pl-pending")).to_have_count(0, timeout=PATIENCE_MS)
    rows.nth(4).hover()
    page.mouse.down()
    rows.nth(2).hover()
    expect(page.locator(".pl-order .pl-drop-before")).to_have_count(1)
    page.keyboard.press("Escape")  # let go: nothing moves
    page.mouse.up()
    expect(page.locator(".pl-order .pl-drop-before")).to_have_count(0)
    rows.nth(4).drag_to(rows.nth(0))
    expect(rows.nth(1).locator(".pl-name")).to_have_text(second)
    expect(rows.nth(2).locator(".pl-name")).to_have_text(first)
    expect(page.locator(".pl-order .pl-pending")).to_have_count(0, timeout=PATIENCE_MS)
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save this pipeline").click()
    saved = json.loads(saving.value.path().read_text())
    usual = Pipeline.of("default").ids
    ids = [entry["id"] for entry in saved["passes"]]
    assert (ids[1], ids[2]) == (usual[1], usual[0])
    assert sorted(ids) == sorted(usual)


@pytest.mark.browser
def test_a_pass_in_the_hand_stays_there_whatever_the_server_answers(
    page: Page, app_url: str
) -> None:
    opened(page, f"{app_url}/?model=tour", "__passlens.step > 0")
    page.get_by_role("button", name="Order").click()
    rows = page.locator(".pl-order li")
    last = rows.nth(0).locator(".pl-name").inner_text()
    rows.nth(0).get_by_role("button").press("ArrowDown")
    rows.nth(10).hover()
    page.mouse.down()
    rows.nth(8).hover()
    # The answer puts a tree above the rows: another one may be under the pointer by now.
    moved = page.locator(".pl-order .pl-dragged .pl-name").inner_text()
    page.wait_for_url("**plan=*", timeout=PATIENCE_MS)
    wait_for_all(page)
    rows.nth(1).hover()
    rows.nth(0).hover()
    page.mouse.up()
    expect(rows.nth(0).locator(".pl-name")).to_have_text(moved)
    expect(rows.nth(2).locator(".pl-name")).to_have_text(last)
    expect(page.locator(".pl-order .pl-pending")).to_have_count(0, timeout=PATIENCE_MS)
