"""Layouts and element types as colours: a legend of names, tags on wires, changes, findings."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect
from viewer_scripts import SESSION, rested
from viewer_server import fixture

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]
Colour = NDArray[np.float64]
SENTENCE = "Axis 3 of 'x' is W, and Add takes it for C."

WORDS = """async () => {
  const { meaningOf } = await import("/viewer/test/overlays/layout-words.js");
  return [
    ["NCHW", "1×64×7×7"], ["NC1HWC0", "1×4×7×7×16"], ["NCHWc8", "1×8×7×7×8"],
    ["N(HW)·", "1×49×12"], ["(H1W1)(H0W0)C", "4×49×16"],
  ].map(([layout, shape]) => meaningOf(layout, shape));
}"""

# Told at steps 0, 4 and 9; of a node that is there from step 6 on only the last one tells.
AT = """async () => {
  const { LAYOUTS } = await import("/viewer/test/overlays/layouts.js");
  const none = { conversions: {}, contradictions: {} };
  const layouts = LAYOUTS.load({ steps: [
    { step: 0, values: { "a:0": "NCHW", i0: "NHWC" }, ...none },
    { step: 4, values: { "b:1": "NC" }, ...none },
    { step: 9, values: { "a:0": "NHWC", "b:1": "", "c:0": "NCHW", "d:0": "NC" }, ...none },
  ] });
  const recs = ["a", "b", "c", "d", "i0"].map((id) => ({ id }));
  const s = { union: { recs, kind: [0, 0, 0, 0, 1], born: [0, 2, 6, 0, 0] } };
  const at = (o, port, ...steps) => steps.map((step) => layouts.nameOf(s, o, port, step));
  return [at(0, 0, 0, 8, 9), at(1, 1, 2, 4, 9), at(2, 0, 6, 9), at(3, 0, 3, 9), at(4, 0, 2)];
}"""

# More and more nodes have one name.
LEGEND = """async () => {
  const { LAYOUTS } = await import("/viewer/test/overlays/layouts.js");
  const none = { conversions: {}, contradictions: {} };
  const made = session.union.recs.map(({ id }, o) => [`${id}:0`, `${Math.floor(o ** 0.6)}`]);
  const layouts = LAYOUTS.load({ steps: [{ step: 0, values: Object.fromEntries(made), ...none }] });
  const theme = { palette: (at) => at };
  return layouts.legend(session, theme).categories.rows.map(({ text, shade }) => [text, shade]);
}"""

PALETTE = """async () => {
  const { readTheme, COLOURS } = await import("/viewer/test/page/theme.js");
  return [false, true].map((dark) => {
    document.body.classList.toggle("dark", dark);
    const theme = readTheme(document.body);
    return Array.from({ length: COLOURS }, (_, at) => theme.palette(at));
  });
}"""

# Machado et al. 2009, full severity, on linear RGB: without long, middle, short cones.
BLIND = {
    "nobody": np.eye(3),
    "protanopia": np.array(
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    ),
    "deuteranopia": np.array(
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
    ),
    "tritanopia": np.array(
        [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]
    ),
}


# From here on what is written on canvases is kept in `written`.
LISTEN = """() => {
  const pen = CanvasRenderingContext2D.prototype, { fillText } = pen;
  window.written = new Set();
  pen.fillText = function (text, ...at) { written.add(text); fillText.call(this, text, ...at); };
}"""

CHANGES = """async () => {
  const { ELEMENT_TYPES } = await import("/viewer/test/overlays/element-types.js");
  const types = ELEMENT_TYPES.ofSession(session);
  const tag = types.wires(session, "after", { palette: String });
  const { union } = session;
  const tags = [...union.from.keys()].map((e) => [union.recs[union.from[e]].id, tag(e)]);
  const changes = tags.filter(([, tag]) => tag?.changes);
  return Object.fromEntries(changes.map(([id, { text }]) => [id, text]));
}"""


def first(name: str, op: str) -> str:
    """The first node of an operator."""
    return next(node["id"] for node in fixture(name)[0]["nodes"] if node["op"] == op)


def offer_layouts(page: Page, name: str) -> None:
    """What a worker would have made: the first Relu turns the data, the first Add contradicts."""
    graph, steps = fixture(name)
    relu = first(name, "Relu")
    source = {"i0": "NCHW"} | {f"{node['id']}:0": "NCHW" for node in graph["nodes"]}
    none: dict[str, str] = {}
    document = {
        "steps": [
            {
                "step": 0,
                "values": source | {f"{relu}:0": "NHWC"},
                "conversions": {relu: "NCHW → NHWC"},
                "contradictions": {first(name, "Add"): SENTENCE},
            },
            {
                "step": len(steps["steps"]),
                "values": {f"{node['id']}:0": "NCHW" for node in steps["nodes"]},
                "conversions": none,
                "contradictions": none,
            },
        ]
    }
    url = "data:application/json," + quote(json.dumps(document))
    page.evaluate("url => update({ overlays: { layouts: { key: 'l', url } } })", url)
    page.get_by_role("button", name="Layouts as colours (l)").wait_for()


def counts(page: Page, name: str) -> list[str]:
    """What the legend says of a name: in the left pane, in the right one."""
    row = page.locator(".pl-numbers").get_by_role("row", name=name)
    return row.get_by_role("cell").all_inner_texts()


def test_layouts_have_a_legend_with_counts_tags_on_wires_and_words_in_the_card(
    opened: Opened,
) -> None:
    page = opened("fixture=cnn8&step=0", reduced=True)
    page.keyboard.press("l")
    legend = page.get_by_role("group", name="Layout", exact=True)
    expect(legend).to_be_hidden()
    offer_layouts(page, "cnn8")
    page.locator(".pl-root").focus()
    page.keyboard.press("l")
    expect(page.get_by_role("status").first).to_have_text("Layouts are shown.")
    nodes = len(fixture("cnn8")[0]["nodes"])
    assert counts(page, "NCHW") == [str(nodes - 1)] * 2
    assert counts(page, "NHWC") == ["1", "1"]
    page.evaluate(LISTEN)
    page.keyboard.press("+")
    rested(page)
    assert {"NCHW", "NCHW → NHWC"} <= set(page.evaluate("[...written]"))
    page.keyboard.press("End")
    rested(page)
    assert counts(page, "NHWC") == ["1", "–"]
    page.keyboard.press("Home")
    rested(page)
    add = first("cnn8", "Add")
    page.evaluate("id => update({ seq: 2, select: [id] })", add)
    card = page.locator(".pl-details")
    expect(card.get_by_role("row", name="NCHW")).to_contain_text("N batch, C channels, H height")
    expect(card.get_by_role("row", name="Contradiction")).to_contain_text(SENTENCE)
    where = page.evaluate("id => __passlensWhere(id)", add)
    page.mouse.move(where["x"] + where["width"] / 2, where["y"] + 8)
    expect(page.get_by_role("tooltip")).to_contain_text(f"Layout NCHW. {SENTENCE}")


def test_element_types_come_with_the_graph_and_are_marked_where_they_change(
    opened: Opened,
) -> None:
    page = opened("fixture=tour-portable&step=0", reduced=True)
    page.keyboard.press("y")
    expect(page.get_by_role("group", name="Element type")).to_contain_text("float32")
    source: list[dict[str, Any]] = fixture("tour-portable")[0]["nodes"]
    types = Counter(node["out"][0][2] or "not known" for node in source if node["out"])
    assert {name: counts(page, name)[0] for name in types} == {
        name: str(count) for name, count in types.items()
    }
    page.evaluate(SESSION, "tour-portable")
    casts = {
        node["id"]: f"{node['in'][0][2]} → {node['out'][0][2]}"
        for node in source
        if node["op"] == "Cast" and node["in"][0][2] != node["out"][0][2]
    }
    assert casts
    assert page.evaluate(CHANGES) == casts
    *named, (rest, colour) = page.evaluate(LEGEND)
    shades = Counter(shade for _, shade in named)
    assert shades.pop(colour) == 6  # named, though they share a colour
    assert set(shades.values()) == {1}
    assert re.fullmatch(r"\d+ more", rest)


def test_words_and_steps_of_layouts_and_colours_that_the_colour_blind_tell_apart(
    opened: Opened,
) -> None:
    page = opened("fixture=cnn4")
    assert page.evaluate(WORDS) == [
        "N batch, C channels, H height, W width",
        "N batch, C1·C0 channels in blocks of 16, H height, W width",
        "N batch, C channels, H height, W width, c8 blocks of 8 channels",
        "N batch, (HW) height and width as one axis, · an axis of which nothing is known",
        "(H1W1) which block of height and width, "
        "(H0W0) height and width within a block, C channels",
    ]
    assert page.evaluate(AT) == [
        ["NCHW", "NCHW", "NHWC"],
        ["NC", "NC", ""],
        ["NCHW", "NCHW"],
        ["", "NC"],
        ["NHWC"],
    ]
    themes: list[list[dict[str, str]]] = page.evaluate(PALETTE)
    for shades, sight in itertools.product(themes, BLIND.values()):
        for part, least in (("solid", 11.0), ("tint", 5.0)):
            colours = [lab(shade[part], sight) for shade in shades]
            apart = min(np.linalg.norm(a - b) for a, b in itertools.combinations(colours, 2))
            assert apart > least


def lab(css: str, sight: Colour) -> Colour:
    """CIE L*a*b* of "rgb(1 2 3)" as somebody sees it."""
    rgb = np.array([float(part) for part in re.findall(r"\d+", css)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz_of = [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
    xyz = np.array(xyz_of) @ np.clip(sight @ linear, 0, 1) / [0.9505, 1, 1.0888]
    f: Colour = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])
