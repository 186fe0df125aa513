"""What was fetched is kept as long as it is used."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]

USED_AGAIN = """async () => {
  const { fetchJson } = await import("/viewer/test/page/fetching.js");
  const graph = () => fetchJson("data:application/json,{}");
  const first = await graph();
  for (let trace = 0; trace < 20; trace++) {
    await fetchJson(`data:application/json,[${trace}]`);
    if (first !== (await graph())) return trace;
  }
  return "kept";
}"""


def test_a_graph_stays_the_same_however_many_traces_come(opened: Opened) -> None:
    """The viewer keeps its camera as long as the graph is the same object."""
    assert opened("fixture=cnn8").evaluate(USED_AGAIN) == "kept"
