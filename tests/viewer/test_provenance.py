"""One story of where nodes come from: trace, steps and cards tell the same, on every sample."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest
import viewer_server
from playwright.sync_api import Browser, Page

from optimizer.model.graph import node_id, walk_nodes
from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.provenance import Provenance
from optimizer.rewrite.replay import Cursor
from studio.gallery import gallery
from studio.graphview.graph_file import graph_json, groups_of
from studio.graphview.records import drawn
from studio.graphview.steps_file import steps_json
from tests.lanes import slow_but
from tests.studio.browsing import PATIENCE_MS

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]

FAMILY = """async ([url, source, final]) => {
  const { Provenance } = await import("/viewer/test/trace/provenance.js");
  const family = new Provenance(await (await fetch(url)).json());
  const told = (ids, of) => Object.fromEntries(ids.map((id) => [id, of(id)]));
  return {
    origins: told(final, (id) => family.origins(id).sort()),
    fates: told(source, (id) => {
      const { kind, into } = family.fate(id);
      return [kind, into.sort()];
    }),
  };
}"""


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Generator[Page]:
    """One page for all networks: nothing is drawn in it."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{address}/?fixture=folding")
    yield page
    page.close()


@pytest.mark.parametrize(
    "network",
    slow_but(["tour", "mobilenetv2", "vit"], [entry.id for entry in gallery.entries()]),
)
def test_fates_and_origins_are_inverse_and_the_browser_tells_the_same(
    network: str, page: Page
) -> None:
    model = load_path(gallery.open_path(network))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    graph = model.ir.graph
    constants = {node_id(node) for node in walk_nodes(graph) if not drawn(node)}
    source = [node_id(node) for node in walk_nodes(graph)]
    drawing = graph_json(graph, key="g", name=network, groups=groups_of(graph))
    trace = optimize(model, Pipeline.of("default"))
    final = [node_id(node) for node in walk_nodes(graph)]
    family = Provenance(trace)
    origins = {node: set(family.origins(node)) for node in final}
    fates = {node: family.fate(node) for node in source}

    ends: set[tuple[str, str]] = set()
    for node, fate in fates.items():
        assert (fate.kind == "kept") == (node in origins), node
        if fate.kind in ("kept", "merged"):
            ends |= {(node, end) for end in fate.into}
        if fate.kind == "kept":
            ends.add((node, node))
    assert ends == {(origin, node) for node, found in origins.items() for origin in found}

    cursor = Cursor.at_end(trace)
    cursor.seek(0)
    steps = steps_json(cursor, key="s", graph_key="g", groups=groups_of(graph))
    for step, rewrite in zip(steps["steps"], trace.rewrites, strict=True):
        left = [n for _, nodes, _ in step.get("became", []) for n in nodes]
        assert sorted(n for n in left if n not in constants) == sorted(step["removed"])
        for node in step["added"] if rewrite.inferred is None else ():
            assert set(step["matched"]) <= set(step["from"][node])

    viewer_server.serve(network, drawing, steps)
    shown = [[i for i in ids if i not in constants] for ids in (source, final)]
    told: dict[str, Any] = page.evaluate(FAMILY, [f"/steps/{network}.json", *shown])
    assert told["origins"] == {i: sorted(origins[i] - constants) for i in shown[1]}
    assert told["fates"] == {i: [fates[i].kind, sorted(fates[i].into)] for i in shown[0]}


def test_a_merged_node_lists_all_its_origins_and_each_of_them_names_it(opened: Opened) -> None:
    page = opened("fixture=transformer2&step=99")
    step = page.evaluate(
        "fetch('/steps/transformer2.json').then((r) => r.json())"
        ".then((t) => t.steps.find((s) => s.rule === 'LayerNorm'))"
    )
    assert len(step["matched"]) == 9
    life = page.locator(".pl-life")
    page.evaluate(f"update({{ seq: 2, select: ['{step['added'][0]}'] }})")
    assert life.inner_text().startswith("In this trace\n\nMade from 9 nodes ")
    assert life.locator("p").first.locator(".pl-chip").count() == 9
    for seq, node in enumerate(step["matched"], start=3):
        page.evaluate(f"update({{ seq: {seq}, select: ['{node}'] }})")
        assert "Merged with 8 others into LayerNormalization at step" in life.inner_text()
