"""Two pipelines over one network, side by side: what both made, what only one made, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page
from viewer_server import fixture, optimized, serve

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]

COMPARE = """async ([graphName, first, second]) => {
  const at = (file) => import(`/viewer/test/${file}.js`);
  const [{ Session }, { Comparison }, { Metrics }] =
    await Promise.all([at("session/session"), at("session/comparison"), at("layout/metrics")]);
  const get = async (kind, name) => (await fetch(`/${kind}/${name}.json`)).json();
  const graph = await get("graph", graphName);
  const traces = [await get("steps", first), await get("steps", second)];
  const metrics = new Metrics({ text: (t) => t.length * 6.5 }, "sans-serif");
  const pipelines = traces.map((trace, i) => ({ name: "AB"[i], trace }));
  const both = new Comparison(graph, pipelines, metrics);
  const drawn = (s, cursor) => {
    const { union } = s, name = (o) => {
      const { id, ...rest } = s.history.record(o, cursor.step);
      return JSON.stringify([rest.op, rest.name, rest.brief, rest.rows, rest.in]);
    };
    const nodes = [], edges = [];
    for (let o = 0; o < union.recs.length; o++) if (cursor.alive[o]) nodes.push(name(o));
    for (let e = 0; e < union.from.length; e++)
      if (cursor.edgeAlive[e])
        edges.push([name(union.from[e]), name(union.to[e]), union.toPort[e]].join());
    return JSON.stringify([nodes.sort(), edges.sort()]);
  };
  const alone = traces.map((trace) => {
    const s = new Session(graph, trace, metrics);
    s.goto(s.steps.length);
    return drawn(s, s.afterCursor);
  });
  const middles = new Map();
  let sideways = 0;
  for (let k = 0; k <= both.steps.length; k++) {
    both.goto(k);
    for (const which of ["before", "after", "overlay"])
      for (const b of both.picture(which).boxes) {
        const mid = b.x + b.w / 2;
        sideways = Math.max(sideways, Math.abs((middles.get(b.key) ?? mid) - mid));
        middles.set(b.key, mid);
      }
  }
  return {
    same: [drawn(both, both.beforeCursor) === alone[0], drawn(both, both.afterCursor) === alone[1]],
    both: both.both, only: both.sides.map((side) => side.only.length), sideways,
    steps: traces.map((trace) => trace.steps.length),
    marks: [...new Set(["before", "after"].flatMap((w) =>
      [...both.marks(w).values()].map((m) => m.mark)))].sort(),
  };
}"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("cnn8", "cnn8-plain"),
        ("cnn8-plain", "cnn8"),
        ("cnn8", "cnn8"),
        ("tour-portable", "tour-cpu"),
        pytest.param("tour-cpu", "tour-portable", marks=pytest.mark.slow),
        ("tour-portable", "tour-generated"),
    ],
)
def test_each_pane_shows_what_its_pipeline_makes_alone(
    opened: Opened, first: str, second: str
) -> None:
    page = opened("fixture=cnn4")
    found = page.evaluate(COMPARE, [first, first, second])
    assert found["same"] == [True, True]
    assert found["sideways"] == 0
    for index in (0, 1):
        assert found["both"] + found["only"][index] == found["steps"][index]
    assert found["both"] > 0
    assert (first == second) == (found["only"] == [0, 0])
    assert (first == second) == (not found["marks"])


def compare(opened: Opened, with_: str = "cnn8-plain") -> Page:
    """A network with and without its Relus fused, or neither these nor its normalizations."""
    page = opened("fixture=cnn8")
    other = f"{{ key: 'other', url: '/steps/{with_}.json' }}"
    page.evaluate("update({ versus: { id: 'none', name: 'none', steps: null } })")
    assert page.locator(".pl-only").count() == 0
    page.evaluate(f"update({{ versus: {{ id: 'none', name: 'none', steps: {other} }} }})")
    page.locator(".pl-only").first.wait_for()
    return page


def test_rewrites_of_one_pipeline_alone_are_counted_listed_and_shown(opened: Opened) -> None:
    page = compare(opened)
    heads = page.locator(".pl-head").all_inner_texts()
    assert "portable" in heads[0]
    assert "none" in heads[1]
    lists = page.locator(".pl-only")
    assert "Only with portable: 9 rewrites" in lists.first.inner_text()
    assert "Only with none: 0 rewrites" in lists.last.inner_text()
    assert "20 rewrites in both" in page.locator(".pl-card").inner_text()
    lists.first.locator("li button").nth(3).click()
    page.wait_for_function("__passlens.step === 4")
    card = page.locator(".pl-card")
    assert "Only with portable" in card.inner_text()
    assert "ConvRelu" in card.inner_text()
    seen = page.locator(".pl-pane > canvas").first.bounding_box()
    assert seen is not None
    made = page.evaluate("""async () => {
      const { steps } = await (await fetch("/steps/cnn8.json")).json();
      return steps.filter((step) => step.rule === "ConvRelu")[3].added[0];
    }""")
    box = page.evaluate("(id) => __passlensWhere(id, 0)", made)
    assert seen["y"] < box["y"] < seen["y"] + seen["height"]
    assert seen["x"] < box["x"] < seen["x"] + seen["width"]
    card.get_by_role("button", name="All that differs").click()
    assert lists.count() == 2


def compare_tour(opened: Opened, *, step: int | None = None, with_: str = "tour-cpu") -> Page:
    """The tour with two pipelines."""
    page = opened("fixture=tour-portable")
    steps = f"{{ key: 'cpu', url: '/steps/{with_}.json' }}"
    link = "" if step is None else f"seq: 2, step: {step}, "
    page.evaluate(f"update({{ {link}versus: {{ id: 'cpu', name: 'cpu', steps: {steps} }} }})")
    page.wait_for_function("shadow.querySelector('.pl-only, .pl-rule') && __passlens.ready")
    return page


def test_a_step_builds_on_another_that_differs_by_a_link_and_on_a_shared_one_in_words(
    opened: Opened,
) -> None:
    page = compare(opened, "cnn8-bare")
    card = page.locator(".pl-card")
    page.locator(".pl-count[title]").last.click()
    page.wait_for_function("__passlens.step === 19")
    assert "Only with portable · its step 20" in card.inner_text()
    assert "Builds on step 2." in card.inner_text()
    card.get_by_role("button", name="Go to step 2").click()
    page.wait_for_function("__passlens.step === 1")
    assert "Only with portable · its step 2" in card.inner_text()
    page = compare(opened, "cnn8-plain")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("__passlens.step === 1")
    shared = page.locator(".pl-card .pl-cost span")
    assert shared.inner_text() == "step 2"
    assert shared.get_attribute("title") == "Both pipelines do this step"
    assert page.locator(".pl-card .pl-cost button").count() == 0


def test_a_pass_leads_to_its_first_rewrite_that_differs(opened: Opened) -> None:
    page = compare(opened, "cnn8-bare")
    counts = page.locator(".pl-count[title]")
    assert [one.get_attribute("title") for one in counts.all()] == [
        "18 rewrites: go to the first that differs, 1 of 27",
        "9 rewrites: go to the first that differs, 19 of 27",
    ]
    counts.last.click()
    page.wait_for_function("__passlens.step === 19")
    assert "Only with portable · its step 20" in page.locator(".pl-card").inner_text()


def test_weights_that_both_drop_are_no_difference_wherever_they_were_found(opened: Opened) -> None:
    serve("tour-dropout", *optimized("tour", "portable", off=["eliminate-dropout"]))
    page = compare_tour(opened, with_="tour-dropout")
    roots = page.evaluate(
        """async (names) => {
      const traces = names.map((name) => fetch(`/steps/${name}.json`).then((r) => r.json()));
      return (await Promise.all(traces)).map(({ steps }) =>
        steps.find((step) => step.rule === "UnusedInitializers").root);
    }""",
        ["tour-portable", "tour-dropout"],
    )
    assert roots[0] != roots[1]
    assert "Remove weights nobody reads" not in "".join(page.locator(".pl-only").all_inner_texts())


def test_a_veto_in_a_comparison_tells_and_links_steps_of_the_pipeline_that_has_it(
    opened: Opened,
) -> None:
    steps = fixture("tour-portable")[1]["steps"]
    passes = fixture("tour-portable")[1]["passes"]
    vetoed = steps[5]
    off = [passes[vetoed["pass"]]["id"], "fold-shapes"]
    serve("tour-less", *optimized("tour", "portable", off=off))
    serve("tour-vetoed", *optimized("tour", "portable", vetoed=[vetoed["match"]]))
    page = compare_tour(opened, with_="tour-less")
    card = page.locator(".pl-card")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("__passlens.step === 1")
    assert "its step 6" in card.inner_text()
    card.get_by_role("button", name="Do not make this rewrite").click()
    page.evaluate("update({ steps: { key: 'vetoed', url: '/steps/tour-vetoed.json' } })")
    page.locator(".pl-toast").wait_for()
    assert "Vetoed. 1 later step is new." in page.locator(".pl-toast").inner_text()
    assert "Vetoed · was step 6" in card.inner_text()
    assert "Number 1 of those that differ is now" in card.inner_text()
    card.get_by_role("button", name="Go to step 15").first.click()
    assert "Only with portable · its step 15" in card.inner_text()


def test_a_link_into_a_comparison_opens_at_the_rewrite_that_was_shown(opened: Opened) -> None:
    page = compare_tour(opened)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("__passlens.step === 3")
    shown = page.locator(".pl-card").inner_text()
    step = page.evaluate("""async () => {
      const { pageLink } = await import("/viewer/test/page/link.js");
      return Number(new URL(pageLink()).searchParams.get("step"));
    }""")
    again = compare_tour(opened, step=step)
    again.wait_for_function("__passlens.step === 3")
    assert again.locator(".pl-card").inner_text() == shown


def test_a_selected_node_tells_its_life_with_both_pipelines(opened: Opened) -> None:
    page = compare(opened)
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    life = page.locator(".pl-life")
    assert life.locator("h3").all_inner_texts() == ["With portable", "With none"]
    with_default, with_none = life.inner_text().split("With none")
    assert "Merged with 1 other into FusedConv" in " ".join(with_default.split())
    assert "Stays to the end." in with_none


def test_a_group_counts_its_nodes_with_both_pipelines(opened: Opened) -> None:
    page = compare(opened)
    box = page.evaluate("__passlensWhere('/layer1/block.0', 1)")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 8)
    card = page.locator(".pl-groupcard")
    assert "7 nodes in the source, 4 with portable, 5 with none" in card.inner_text()
    assert "1 of 9" in card.inner_text()


def test_the_comparison_is_chosen_and_ended_in_the_viewer(opened: Opened) -> None:
    page = opened("fixture=cnn8")

    def sent() -> list[Any]:
        return [value for _, _, value in page.evaluate("__sent")]

    page.get_by_label("Compare with pipeline").select_option("cpu")
    assert sent()[-1] == {"versus": "cpu"}
    page.evaluate(
        "update({ versus: { id: 'cpu', name: 'cpu',"
        " steps: { key: 'plain', url: '/steps/cnn8-plain.json' } } })"
    )
    page.get_by_role("button", name="End the comparison").click()
    assert sent()[-1] == {"versus": ""}
    page.evaluate("update({ versus: null })")
    page.wait_for_function("__passlens.ready && __passlens.step === 0")
    assert "BEFORE" in page.locator(".pl-head").first.inner_text()
