"""Figures of the Memory page, from arenas by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import plotly.graph_objects as go
import pytest

from optimizer.memory.order import Order
from optimizer.memory.plan import Plan
from optimizer.memory.rematerialization import Rematerialized
from optimizer.numbers import bytes_text
from profiling.arena.measurement import ArenaMeasurement
from studio.memory.buffers_figure import MOST_DRAWN, drawn_lifetimes, hover_text
from studio.memory.lanes_figure import PanelLine, Scale, lanes, lines_of
from studio.memory.orders.figure import measured_orders, order_curves, orders_finding
from studio.memory.orders.job import Orders
from studio.memory.plan_text import peaks_text, proof_text
from studio.memory.planners.figure import bar_text, cut_at, planner_bars, planners_finding
from studio.memory.recompute.figure import recompute_curve, recompute_finding
from studio.memory.walk.figure import walk_strip
from studio.memory.walk.job import Walk, looked_at
from tests.studio.memory.memory_maps import KIB, life, mapped

SCALE = Scale(10, 20 * KIB)


def plain(figure: go.Figure) -> dict[str, Any]:
    """A figure as the browser gets it."""
    return cast("dict[str, Any]", figure.to_dict())


def plan(peak_kib: int, bound_kib: int = 12, **more: Any) -> Plan:
    certificate = more.get("certificate")
    return Plan("best", (), peak_kib * KIB, bound_kib * KIB, certificate)


def drawn(**options: Any) -> dict[str, Any]:
    panels = {"Source": mapped(planner="naive"), "Step 3": mapped()}
    return plain(lanes(panels, title="finding", scale=SCALE, **options))


def test_every_buffer_is_a_rectangle_of_its_steps_and_addresses() -> None:
    bars = drawn()["data"][0]
    assert list(bars["x"]) == [0, 1, 2, 3]
    assert list(bars["width"]) == [2, 2, 2, 1]
    assert list(bars["y"]) == [4, 8, 2, 4]
    assert list(bars["base"]) == [0, 4, 12, 14]
    assert list(bars["customdata"]) == ["n0", "n1", "n2", "n3"]


def test_both_panels_have_the_axes_of_the_scale_whatever_they_show() -> None:
    layout = drawn()["layout"]
    assert layout["xaxis"]["range"] == layout["xaxis2"]["range"] == [0, 10]
    assert layout["yaxis"]["range"] == layout["yaxis2"]["range"]
    assert layout["yaxis"]["range"][1] > 20


def test_peak_bound_and_floor_share_a_line_where_they_are_one_height() -> None:
    assert [line.text for line in lines_of(mapped())] == [
        "peak = most alive at once = largest single operator"
    ]
    assert [line.text for line in lines_of(mapped(planner="naive"))] == [
        "peak", "most alive at once = largest single operator",
    ]  # fmt: skip


@pytest.mark.parametrize(("early", "late", "anchor"), [("a", "b", "left"), ("b", "a", "right")])
def test_the_text_of_a_line_stands_where_it_hides_no_buffer(
    early: str, late: str, anchor: str
) -> None:
    steps = {early: (0, 2), late: (8, 10)}
    upper_last = tuple(life(name, 8, *steps[name]) for name in "ab")  # naive: b lies on a
    panels = {"": mapped(upper_last, planner="naive")}
    notes = plain(lanes(panels, title="", scale=SCALE))["layout"]["annotations"]
    (bound,) = [note for note in notes if note["text"].startswith("most alive at once")]
    assert (bound["xanchor"], bound["yanchor"]) == (anchor, "bottom")


def test_what_was_measured_is_drawn_in_the_last_panel_only() -> None:
    figure = drawn(
        measured=[
            PanelLine("runtime's block", 15 * KIB, "#000"),
            PanelLine("measured", (KIB, 2 * KIB), "#000"),
        ],
        moment=2,
    )
    texts = {note["text"]: note["xref"] for note in figure["layout"]["annotations"]}
    assert texts["runtime&#x27;s block 15 KiB"] == "x2 domain"
    assert figure["data"][-1]["xaxis"] == "x2"
    assert list(figure["data"][-1]["y"]) == [1, 2]
    marked = [shape for shape in figure["layout"]["shapes"] if shape["type"] == "rect"]
    assert [(shape["x0"], shape["x1"], shape["xref"]) for shape in marked] == [(2, 3, "x2")]


def test_of_very_many_buffers_the_largest_areas_are_drawn() -> None:
    lives = tuple(life(f"v{i}", 1 + (i % 7), i, i + 1) for i in range(MOST_DRAWN + 100))
    shown = drawn_lifetimes(mapped(lives, planner="naive"))
    assert len(shown) == MOST_DRAWN
    assert shown == sorted(shown)
    assert {lives[i].size_bytes for i in set(range(len(lives))) - set(shown)} == {KIB}


def test_the_pointer_tells_name_shape_bytes_node_life_and_who_shares() -> None:
    shared = life("<b>x</b>", 4, 0, 2, values=("x", "y", "z"))
    text = hover_text(replace(mapped((shared,)), names={"y": "y_name", "z": "z<i>"}), shared)
    assert "<b>&lt;b&gt;x&lt;/b&gt;</b>" in text
    assert "float32 1×1024 · 4 KiB" in text
    assert "made by Conv /n0" in text
    assert "steps 0–1, read 1×" in text
    assert "shared with y_name, z&lt;i&gt;" in text


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (plan(12, certificate="meets the bound"), "at the lower bound, proven"),
        (plan(15, certificate="search exhausted"),
         "proven optimal, 25 % above the most alive at once"),
        (plan(15), "25 % above the most alive at once, not proven"),
    ],
)  # fmt: skip
def test_a_plan_is_called_proven_only_with_a_certificate(found: Plan, words: str) -> None:
    assert proof_text(found) == words


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (None, 2 * KIB, "2 KiB"),
        (2 * KIB, 2 * KIB, "2 KiB as before"),
        (3 << 20, KIB << 9, "3 → 0.5 MiB"),
        (288 * KIB + 256, 288 * KIB, "288 KiB, 256 B less than before"),
    ],
)
def test_peaks_are_told_in_one_unit(before: int | None, after: int, text: str) -> None:
    assert peaks_text(before, after) == text


def test_sizes_are_told_with_three_digits_in_the_unit_that_suits() -> None:
    assert [bytes_text(size) for size in (0, 1023, 1536, 10_102_374)] == [
        "0 B", "1,023 B", "1.5 KiB", "9.63 MiB",
    ]  # fmt: skip


def test_naive_is_cut_off_and_says_how_far_it_goes_on() -> None:
    plans = [plan(120), plan(14), plan(12, certificate="meets the bound")]
    plans = [replace(one, planner=name) for one, name in zip(plans, "abc", strict=True)]
    assert 14 * KIB < cut_at(plans) < 24 * KIB
    figure = plain(planner_bars(plans, {"a": "Naive"}, title="t"))
    bars = figure["data"][0]
    assert list(bars["marker"]["pattern"]["shape"]) == ["/", "", ""]
    assert bars["text"][0].strip().startswith("⟶ 120 KiB · 10× bound")
    assert bars["text"][2].endswith("proven")
    assert bar_text(plans[1]).endswith("not proven")


def test_the_finding_of_the_planners_names_who_is_best_and_what_the_worst_costs() -> None:
    plans = [
        replace(plan(48), planner="naive"),
        replace(plan(12, certificate="meets the bound"), planner="x"),
    ]
    finding = planners_finding(plans, {"naive": "Naive", "x": "Local search"})
    assert finding == (
        "12 KiB, at the lower bound, proven, found by Local search alone; naive takes 4.00× as much"
    )


def order(method: str, *live_kib: int, proven: bool = False) -> Order:
    live = tuple(size * KIB for size in live_kib)
    nodes = tuple(f"n{i}" for i in range(len(live)))
    return Order(method, nodes, live, proven=proven, states=7, seconds=0.1)


def test_an_order_that_helps_is_told_with_its_proof() -> None:
    orders = Orders((order("file", 2, 9, 2), order("exact", 2, 5, 2, proven=True)), 4 * KIB)
    assert orders_finding(orders) == (
        "Exact search: 9 → 5 KiB alive at once; proven: no order needs less"
    )
    figure = plain(order_curves(orders))
    assert [list(curve["y"]) for curve in figure["data"]] == [[2, 9, 2], [2, 5, 2]]


def test_a_file_whose_order_is_the_best_is_not_reordered_even_where_others_are_as_good() -> None:
    orders = Orders((order("list", 2, 5), order("file", 3, 5), order("exact")), 4 * KIB)
    assert orders.best.method == "file"
    assert orders_finding(orders) == (
        "The file's order needs 5 KiB at once; not proven to be the least"
    )


def test_measured_orders_stand_beside_each_other() -> None:
    found = {
        "a": ArenaMeasurement(("n",), (KIB,), KIB, 4 * KIB, 8 * KIB, 0),
        "b": ArenaMeasurement(("n",), (KIB,), KIB, 2 * KIB, 8 * KIB, 0),
    }
    first, block = plain(measured_orders(found, title="t"))["data"]
    assert list(first["x"]) == [1, 1]
    assert list(block["text"]) == ["4 KiB", "2 KiB"]


def test_recomputing_says_what_it_buys_or_plainly_why_nothing() -> None:
    points = (
        Rematerialized(0, 0.0, 12 * KIB, ()),
        Rematerialized(50, 0.25, 6 * KIB, (("a", "b"),)),
    )
    assert recompute_finding(points, 4 * KIB) == "12 → 6 KiB alive at once for 25 % more FLOP"
    assert "one operator's own" in recompute_finding(points[:1], 12 * KIB)
    assert "no copy lowers" in recompute_finding(points[:1], 4 * KIB)
    figure = plain(recompute_curve(points, points[1], 4 * KIB))
    assert list(figure["data"][1]["x"]) == [25]


def test_the_strip_says_which_step_takes_most_off_the_peak() -> None:
    walk = Walk((0, 1, 2, 3), (8 * KIB, 8 * KIB, 5 * KIB, 4 * KIB), (9, 9, 8, 8))
    title = plain(walk_strip(walk, 2))["layout"]["title"]["text"]
    assert title == "Most alive at once over the rewrite: 8 → 4 KiB; most goes at step 2, 3 KiB"
    sparse = Walk((0, 7, 9), (8 * KIB, 3 * KIB, 2 * KIB), (9, 9, 8))
    title = plain(walk_strip(sparse, 2))["layout"]["title"]["text"]
    assert title.endswith("most goes by step 7, 5 KiB")
    flat = Walk((0, 1), (KIB, KIB), (9, 9))
    assert "no rewrite touches the peak" in plain(walk_strip(flat, 0))["layout"]["title"]["text"]
    unknown = Walk((0, 1), (None, None), (9, 9))
    assert "unknown" in plain(walk_strip(unknown, 0))["layout"]["title"]["text"]


def test_long_traces_of_large_graphs_are_looked_at_here_and_there() -> None:
    assert looked_at(5, 100) == [0, 1, 2, 3, 4, 5]
    few = looked_at(800, 10_000)
    assert (few[0], few[-1]) == (0, 800)
    assert len(few) == 12
    assert len(looked_at(800, 10_000, most=5)) == 5
