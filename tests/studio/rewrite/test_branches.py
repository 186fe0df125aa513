"""Pipelines that were tried, as a tree: what makes a branch, going back, two of them compared."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from optimizer.registry import find
from studio.rewrite.branches import Branches, what_changed
from studio.versus import Versus
from studio.workspace import Veto, Workspace
from tests.studio.browsing import PATIENCE_MS, opened

PAD = "fuse-pad-conv"
VETO = Veto("6075098cbfda", "RedundantPair", "n7")


def test_each_change_is_a_branch_of_what_it_was_made_from() -> None:
    start = Workspace()
    without = start.with_pass(PAD, enabled=False)
    vetoed = without.with_veto(VETO, step=None)
    cpu = start.with_preset("cpu")
    tree = Branches.of(start).grown(start, without).grown(without, vetoed)
    tree = tree.grown(vetoed, without).grown(without, start).grown(start, cpu)
    declared = find(PAD)
    assert declared is not None
    assert [one.change for one in tree.tried] == [
        "portable", f"\N{MINUS SIGN} {declared.title()}", "1 veto", "preset cpu",
    ]  # fmt: skip
    assert [one.parent for one in tree.tried] == [None, 0, 1, 0]
    assert [*tree.in_order()] == [(0, 0), (1, 1), (2, 2), (3, 1)]
    assert start.choosing(tree.tried[2].chosen, tree.tried[2].vetoed).vetoed == {VETO}
    other = start.with_model("tour")
    assert len(tree.grown(start, other).tried) == 1, "another model has another tree"


def test_a_change_is_told_in_a_few_words() -> None:
    one = Versus("portable")
    vetoed = Versus("portable", vetoed=frozenset({"a", "b"}))
    assert what_changed(one, vetoed) == "2 vetoes"
    assert what_changed(vetoed, one) == "2 vetoes taken back"
    assert what_changed(one, Versus("portable", plan="0" * 16)) == "order or options"
    assert what_changed(one, Versus("portable", frozenset({"fuse-gelu-runtime"}))).startswith("+ ")


def test_a_link_carries_the_vetoes_of_the_pipeline_that_is_compared() -> None:
    compared = Versus("portable", off=frozenset({PAD}), vetoed=frozenset({VETO.match}))
    assert Versus.from_link(compared.to_link()) == compared
    assert compared.pipeline().vetoed == {VETO.match}
    assert compared.name() == "portable, \N{MINUS SIGN}1 pass, 1 veto"


@pytest.mark.browser
def test_from_a_branch_back_to_the_trunk_and_both_compared(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    opened(page, f"{app_url}/?model=tour&step=20", "__passlens.step === 20")
    page.get_by_role("button", name="Do not make this rewrite").click()
    page.get_by_role("button", name="Tried 2").click(timeout=PATIENCE_MS)
    rows = page.locator(".pl-branches li")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("1 veto")
    expect(rows.nth(1)).to_contain_text("nodes", timeout=PATIENCE_MS)
    rows.nth(0).get_by_role("button").first.click()
    expect(rows.nth(0).locator("[aria-current=true]")).to_be_visible(timeout=PATIENCE_MS)
    assert "veto=" not in page.url
    rows.nth(1).get_by_role("button", name="Compare with").click()
    only = page.locator(".pl-only").first
    expect(only).to_contain_text("1 rewrite", timeout=PATIENCE_MS)
    assert "versus=portable" in page.url
