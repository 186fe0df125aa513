"""The workbench in a real browser: keys, mouse, what it tells the server, what it will not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from viewer_scripts import rested, told

from optimizer.passes.imported.optimize_by_onnxruntime import OptimizeByOnnxruntime
from optimizer.passes.imported.slim_by_onnxslim import SlimByOnnxslim
from studio.graphview.catalogue import pass_record

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]

FILLED = """(height) => {
  const { bottom } = shadow.querySelector(".pl-root").getBoundingClientRect();
  return innerHeight === height && scrollY === 0 && height - 20 <= bottom && bottom <= height;
}"""


def status(page: Page) -> dict[str, Any]:
    """What the viewer says of itself."""
    return page.evaluate("window.__passlens")


def sent(page: Page) -> list[list[Any]]:
    """What Python would have heard."""
    return page.evaluate("window.__sent")


def where(page: Page, ident: str, pane: int = 1) -> dict[str, Any]:
    """Where a box is drawn, in pixels of the page."""
    return page.evaluate("([id, pane]) => __passlensWhere(id, pane)", [ident, pane])


def selection(page: Page) -> str:
    """The heading of the details panel."""
    return page.locator(".pl-details h2").inner_text()


def test_arrow_keys_step_and_brackets_jump_by_pass(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    assert status(page)["total"] == 65
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("__passlens.step === 2 && __passlens.total === 63")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("__passlens.step === 1 && __passlens.total === 64")
    page.keyboard.press("]")
    page.wait_for_function("__passlens.step === 2")
    page.keyboard.press("]")
    page.wait_for_function("__passlens.step === 20")
    page.keyboard.press("[")
    page.wait_for_function("__passlens.step < 20")
    page.keyboard.press("End")
    page.wait_for_function("__passlens.step === 29 && __passlens.total === 37")
    assert status(page)["errors"] == []


def test_nothing_is_sent_on_load_and_the_view_after_a_second_of_rest(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    told(page)
    assert sent(page) == []
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("__sent.length > 0")
    told(page)
    (kind, name, value), *rest = sent(page)
    assert (kind, name, rest) == ("message", "view", [])
    assert value["step"] == 2
    assert value["before"] == "source"


LEAVE = {
    "history": "dispatchEvent(new PopStateEvent('popstate'))",
    "link": """
      const link = Object.assign(document.createElement("a"), { href: "#" });
      link.onclick = () => false;  // as Streamlit's links: no history of the browser's own
      document.body.append(link);
      link.click()""",
}


@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
def test_whoever_leaves_is_not_brought_back_by_the_view(opened: Opened, leave: str) -> None:
    page = opened("fixture=cnn8&step=0")
    page.evaluate(f"""() => {{
      const left = performance.now();
      {leave};
      const heard = () => (window.silent = __sent.length ? performance.now() - left : undefined);
      const timer = setInterval(() => heard() && clearInterval(timer), 10);
    }}""")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("window.silent")
    assert page.evaluate("silent") > 4900  # milliseconds
    assert sent(page)[0][2]["step"] == 1


def test_toggling_a_pass_is_told(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    page.locator("input[data-pass=fuse-conv-relu]").uncheck()
    page.get_by_label("All passes of family node").uncheck()
    page.get_by_label("Preset", exact=True).select_option("none")
    values = [value for kind, name, value in sent(page) if (kind, name) == ("message", "pipeline")]
    assert values == [
        {"toggle": ["fuse-conv-relu", False]},
        {"family": ["node", False]},
        {"preset": "none"},
    ]


@pytest.mark.parametrize(
    "target", [".pl-pass input", ".pl-family button", ".pl-icon", ".pl-card button"]
)
def test_a_click_counts_though_the_list_is_drawn_anew_while_the_pointer_is_down(
    opened: Opened, target: str
) -> None:
    page = opened("fixture=cnn8&step=1")
    page.evaluate(
        """target => shadow.addEventListener("click", (e) =>
        e.target.closest(target) && (window.__clicked = true))""",
        target,
    )
    place = page.locator(target).first
    place.hover()
    page.mouse.down()
    page.evaluate("update({ verified: { verdict: 'equal', text: 'The outputs are equal.' } })")
    page.mouse.up()
    assert page.evaluate("window.__clicked")
    expect(page.locator(".pl-passes")).to_contain_text("The outputs are equal.")


def test_a_list_is_drawn_anew_though_it_was_not_told_that_the_pointer_is_up(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    passes = page.locator(".pl-passes")
    pressed = passes.evaluate("""(passes) => {
      passes.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, buttons: 1 }));
      update({ verified: { verdict: "equal", text: "The outputs are equal." } });
      return passes.textContent;
    }""")
    assert "The outputs are equal." not in pressed
    passes.dispatch_event("pointermove", {"buttons": 0})
    expect(passes).to_contain_text("The outputs are equal.")


def test_the_line_that_installs_what_passes_need_stands_below_their_family(opened: Opened) -> None:
    class Lacking(SlimByOnnxslim):
        needs = "no_such_package"

    told = opened("fixture=cnn8").evaluate(
        """async (lists) => {
          const { installLine } = await import("/viewer/test/panels/install.js");
          return lists.map((list) => installLine(list)?.textContent ?? null);
        }""",
        [[pass_record(Lacking), pass_record(OptimizeByOnnxruntime)], []],
    )
    assert told == ["Not installed: no_such_packagepip install passlens[peers]Copy", None]


def test_a_message_is_told_with_every_later_one_until_it_is_acknowledged(opened: Opened) -> None:
    told = opened("fixture=cnn8").evaluate("""async () => {
      const { Outbox } = await import("/viewer/test/app/outbox.js");
      const told = [];
      const component = { setStateValue: (name, messages) => told.push(messages) };
      const line = { component, data: {} };
      const outbox = new Outbox(line);
      for (const name of ["view", "veto", "view"]) outbox.post(name, told.length);
      line.data = { acknowledged: told.at(-1).at(0).number };
      outbox.heard();
      outbox.post("cancel", true);
      outbox.stop();
      return told.map((messages) => messages.map(({ name, value }) => [name, value]));
    }""")
    assert told == [
        [["view", 0]],
        [["view", 0], ["veto", 1]],
        [["veto", 1], ["view", 2]],
        [["view", 2], ["cancel", True]],
    ]


def test_veto_says_which_rewrite_it_was_in_words(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=3")
    page.get_by_role("button", name="Do not make this rewrite").click()
    veto = {"match": f"{3:012x}", "rule": "ConvBatchNorm", "root": "n4"}
    asked = {**veto, "pass": "fuse-conv-batch-norm", "step": 3}
    assert ["message", "veto", asked] in sent(page)
    page.evaluate(
        "([veto]) => update({ pipeline: { preset: 'default', presets: [], enabled: [],"
        " vetoed: [veto, { match: 'ffff', rule: '', root: '' }] } })",
        [veto],
    )
    page.get_by_role("button", name="Vetoed 2").click()
    rows = page.locator(".pl-vetoed li").all_inner_texts()
    assert "ConvBatchNorm at BatchNormalization block.0" in rows[0]
    assert "Rewrite ffff" in rows[1]
    page.locator(".pl-vetoed").get_by_role("button", name="Let this rewrite").first.click()
    assert ["message", "unveto", {"match": veto["match"], "step": 3}] in sent(page)


def test_what_a_veto_cost_is_said_in_a_sentence(opened: Opened) -> None:
    told = opened("fixture=folding").evaluate("""async () => {
      const { costOf } = await import("/viewer/test/panels/vetoing.js");
      const steps = (n) => new Array(n).fill({});
      return [[0, 0], [1, 0], [2, 1], [0, 1], [1, 3]].map(
        ([gone, fresh]) => costOf({ gone: steps(gone), fresh: steps(fresh) }));
    }""")
    assert told == [
        "No other step changes.",
        "1 later step vanishes.",
        "2 later steps vanish, 1 is new.",
        "1 later step is new.",
        "1 later step vanishes, 3 are new.",
    ]


def test_a_selected_node_is_lit_in_both_panes_with_its_details(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    page.keyboard.press("/")
    page.keyboard.type("GlobalAveragePool")
    page.keyboard.press("Enter")
    assert selection(page) == "GlobalAveragePool"
    page.keyboard.press("Escape")
    rested(page)
    reds = page.evaluate("""() => [...shadow.querySelectorAll(".pl-pane > canvas")].map((c) => {
      const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
      let n = 0;
      const near = (i, [r, g, b]) =>
        Math.abs(d[i] - r) < 6 && Math.abs(d[i + 1] - g) < 6 && Math.abs(d[i + 2] - b) < 6;
      for (let i = 0; i < d.length; i += 4) if (near(i, [47, 98, 208])) n++;
      return n;
    })""")
    assert all(count > 100 for count in reds)
    page.get_by_role("button", name="Identity").or_(
        page.locator(".pl-chip", has_text="Flatten")
    ).first.click()
    assert selection(page) == "Flatten"


def test_alt_arrows_follow_edges(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    page.keyboard.press("Alt+ArrowDown")
    assert selection(page) == "pixel_values"
    page.keyboard.press("Alt+ArrowDown")
    assert selection(page) == "Conv"
    page.keyboard.press("Alt+ArrowDown")
    assert selection(page) == "BatchNormalization"
    page.keyboard.press("Alt+ArrowUp")
    assert selection(page) == "Conv"


def test_a_removed_node_says_what_it_became(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    life = page.locator(".pl-life")
    assert "Merged with 1 other into Conv at step 2" in life.inner_text()
    assert "In the end part of FusedConv" in life.inner_text()
    life.get_by_role("button", name="Go to step 2").click()
    page.wait_for_function("__passlens.step === 2")


def test_a_click_on_its_arrow_folds_a_group_and_keeps_it_in_place(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    before = status(page)["visible"]
    group = "/layer1/block.0"
    was = where(page, group)
    assert was["kind"] == "open"
    page.mouse.click(was["x"] + 12, was["y"] + 12)
    page.wait_for_function(f"__passlens.visible < {before}")
    rested(page)
    now = where(page, group)
    assert now["kind"] == "closed"
    assert abs(now["y"] - was["y"]) < 1.5
    assert abs(now["x"] + now["width"] / 2 - was["x"] - was["width"] / 2) < 1.5
    page.mouse.click(now["x"] + 12, now["y"] + 12)
    page.wait_for_function(f"__passlens.visible === {before}")


def test_the_same_node_stands_at_the_same_height_in_both_panes(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=12")
    for key in ("ArrowRight", "ArrowRight", "]", "End"):
        page.keyboard.press(key)
        rested(page)
        middle = page.locator(".pl-pane > canvas").first.bounding_box()
        assert middle is not None
        centre = middle["y"] + middle["height"] / 2
        pairs = [(where(page, f"n{i}", 0), where(page, f"n{i}", 1)) for i in range(65)]
        both = [(a, b) for a, b in pairs if a and b]
        near = min(both, key=lambda pair: abs(pair[0]["y"] + pair[0]["height"] / 2 - centre))
        heights = [box["y"] + box["height"] / 2 for box in near]
        assert abs(heights[0] - heights[1]) < 40


def test_a_step_larger_than_the_pane_shows_its_root(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=2")
    for _ in range(12):
        page.keyboard.press("+")
    page.keyboard.press("g")
    rested(page)
    pane = page.locator("canvas").first.bounding_box()
    assert pane is not None
    root = where(page, "n1", 0)  # the BatchNormalization, merged into its Conv
    middle = pane["y"] + pane["height"] / 2
    assert root["y"] + root["height"] / 2 == pytest.approx(middle, abs=2)


def test_search_opens_the_folded_groups_around_a_hit(opened: Opened) -> None:
    page = opened("fixture=transformer160&step=0")
    before = status(page)["visible"]
    page.keyboard.press("/")
    page.keyboard.type("layer.77/attention/self/Softmax")
    page.keyboard.press("Enter")
    page.wait_for_function(f"__passlens.visible > {before}")
    assert selection(page) == "Softmax"


def test_hostile_names_stay_text(opened: Opened) -> None:
    page = opened("fixture=hostile&step=1")
    for query in ("__proto__", "img", "constructor"):
        page.keyboard.press("/")
        page.get_by_role("searchbox").fill(query)
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
    page.get_by_text("Nodes as a list").click()
    page.get_by_label("Nodes that are drawn").get_by_role("listitem").first.wait_for()
    assert page.title() == "harness"
    assert page.evaluate("shadow.querySelectorAll('img, script').length") == 0
    assert "onerror" in page.locator(".pl-details").inner_text()


def test_with_reduced_motion_nothing_is_animated(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0", reduced=True)
    frames = page.evaluate("""async () => {
      const pane = [...shadow.querySelectorAll(".pl-pane > canvas")].at(-1);
      const shot = () => pane.toDataURL();
      const next = () => new Promise((done) => requestAnimationFrame(done));
      const frame = async () => { await next(); await next(); };
      shadow.querySelector(".pl-root").dispatchEvent(
        new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, composed: true }));
      await frame();
      const first = shot();
      await frame();
      await frame();
      return first === shot();
    }""")
    assert frames


def test_streamlits_hot_keys_do_not_leave_the_viewer(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    page.evaluate("""() => {
      window.heard = [];
      document.addEventListener("keydown", (e) => heard.push(e.key));
    }""")
    for key in ("r", "c", "ArrowRight", "/"):
        page.keyboard.press(key)
    page.keyboard.type("rc")
    assert page.evaluate("heard") == []


def test_model_mode_shows_one_pane_without_passes_or_scrubber(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=model")
    assert page.locator(".pl-scrub").is_hidden()
    assert page.locator(".pl-left").is_hidden()
    assert page.locator(".pl-pane > canvas").first.is_hidden()
    assert page.locator(".pl-pane > canvas").last.is_visible()
    assert status(page)["total"] == 65


def test_the_page_never_scrolls_and_the_viewer_fills_it(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    for height in (800, 640):
        page.set_viewport_size({"width": 1100, "height": height})
        page.wait_for_function(FILLED, arg=height)


def test_the_old_trace_stays_while_a_new_one_is_made(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=9")
    busy = "{ text: 'Optimizing', fraction: 0.4, cancel: true }"
    page.evaluate(f"update({{ steps: null, busy: {busy} }})")
    page.locator(".pl-note", has_text="Optimizing").wait_for()
    rested(page)
    assert status(page)["step"] == 9
    page.get_by_role("button", name="Cancel").click()
    assert ["message", "cancel", True] in sent(page)
    page.evaluate("update({ busy: null, steps: { key: 'new', url: '/steps/cnn8.json?new' } })")
    page.wait_for_function("__passlens.ready && __passlens.step === 9")


def test_a_missing_trace_is_told_where_it_is_missed(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=9")
    page.evaluate("update({ steps: { key: 'gone', url: '/steps/gone.json' } })")
    page.wait_for_function("__passlens.errors.length === 1")
    assert "404" in page.locator(".pl-note").inner_text()


def test_a_permalink_opens_step_selection_and_folding(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    page.evaluate("update({ seq: 2, step: 5, select: ['n4'], open: ['-/layer1/block.0'] })")
    page.wait_for_function("__passlens.step === 5")
    assert where(page, "/layer1/block.0")["kind"] == "closed"
    assert where(page, "/layer1/block.1")["kind"] == "open"
    assert selection(page) == "BatchNormalization"


def test_unmounting_removes_everything(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    assert page.evaluate("(() => { const a = __cleanup; update({}); return a === __cleanup; })()")
    page.evaluate("document.getElementById('host').remove(); __cleanup()")
    page.wait_for_function("shadow.querySelector('.pl-root') === null")


def test_a_cleanup_while_the_page_still_shows_the_viewer_is_passed_over(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=3")
    page.evaluate("(__cleanup(), new Promise((done) => setTimeout(done)))")
    assert page.locator(".pl-root").count() == 1
