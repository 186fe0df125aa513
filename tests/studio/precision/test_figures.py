"""Figures of layers and of a search: what they say and where marks stand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

from optimizer.verify import Comparison, budget_of
from profiling.config import RunConfig
from profiling.instructions import FastIntegers
from profiling.machine import this_machine
from profiling.precision.chosen import ChosenPlan
from profiling.precision.evaluation import PlanEvaluation, Requirement
from profiling.precision.plans import PrecisionPlan
from profiling.precision.regions import Region
from profiling.precision.search import SearchResult
from profiling.racing.samples import Contrast
from studio.precision.budget.figure import (
    failed,
    pareto,
    regions_table,
    search_title,
    tried_table,
)
from studio.precision.errors import NodeErrors
from studio.precision.layers.figure import finding, layer_dots
from studio.precision.layers.job import Layer, LayersFound


def _layers() -> LayersFound:
    layers = (
        Layer("a", "Conv", "n1", math.inf, 0.0, 1.0, is_output=False),
        Layer("b", "Relu", "n2", 44.0, 0.01, 0.999, is_output=False),
        Layer("y", "Gemm", "n3", 31.26, 0.03, 0.998, is_output=True),
    )
    return LayersFound(layers, "b", 2, 4, True, NodeErrors(3, "", ("n2",), {}))


def test_the_title_of_layers_says_what_outputs_keep_and_where_the_error_starts() -> None:
    assert finding("static int8", _layers()) == (
        "Static int8: the outputs keep 31.3 dB; the error starts at Relu"
    )


def test_values_that_differ_stand_at_their_place_and_others_are_left_out() -> None:
    drawn = cast("Any", layer_dots(_layers(), title="t", about="4 generated inputs", dark=False))
    points = {(x, y) for trace in drawn.data for x, y in zip(trace.x, trace.y, strict=True)}
    assert points == {(1, 44.0), (2, 31.26)}
    assert "4 generated inputs" in drawn.layout.title.subtitle.text


def _chosen() -> ChosenPlan:
    region = Region("all", "matrix products", ("m",), {"MatMul": 1}, 4096, 1.0)

    def tried(choice: Any, size: int, db: float, speed: float | None) -> PlanEvaluation:
        contrast = None if speed is None else Contrast(speed, speed, speed, 15, "faster")
        compared = Comparison("y", ok=True, sqnr_db=db, scaled=0.01)
        return PlanEvaluation(PrecisionPlan((choice,)), size, (compared,), speed=contrast)

    evaluations = (
        PlanEvaluation(PrecisionPlan(("float32",)), 4096),
        tried("dynamic int8", 1024, 30.0, 2.0),
        tried("static int8", 1024, 20.0, 2.5),
        tried("int4 weights", 512, 10.0, None),
        PlanEvaluation(PrecisionPlan(("float16",)), failure="it does not run"),
    )
    found = SearchResult(evaluations, (0, 1), 1, None, "everything worth a trial was tried")
    return ChosenPlan(
        "m.onnx", "0" * 16, Requirement(budget_of("25dB")), "speed", "", (region,), {},
        {"m": "n1"}, FastIntegers("uint8", 8, "", certain=True), 8, 4, found, RunConfig(),
        this_machine(), "2026-01-01T00:00:00",
    )  # fmt: skip


def test_plans_stand_at_their_time_and_error_and_what_was_not_raced_beside() -> None:
    chosen = _chosen()
    drawn = cast("Any", pareto(chosen, picked=1, title="t"))
    marks = drawn.data[1]
    points = list(zip(marks.x, marks.y, strict=True))
    assert points[1:3] == [(50, 30), (40, 20)]
    assert points[0][0] == 100
    assert points[0][1] > 30  # float loses nothing
    assert points[3][0] > max(drawn.layout.xaxis.tickvals)
    assert [data[0] for data in marks.customdata] == [0, 1, 2, 3]
    assert marks.marker.size[0] == 2 * marks.marker.size[1]  # areas are sizes
    assert "4 generated inputs" in drawn.layout.title.subtitle.text
    assert failed(chosen) == 1


def test_the_name_of_a_mark_near_the_end_of_the_axis_stays_within_it() -> None:
    chosen = _chosen()
    slow = replace(chosen.found.evaluations[1], speed=Contrast(0.72, 0.72, 0.72, 15, "slower"))
    found = replace(chosen.found, evaluations=(chosen.found.evaluations[0], slow))
    drawn = cast("Any", pareto(replace(chosen, found=found), picked=1, title="t"))
    anchors = {one.text.partition(":")[0]: one.xanchor for one in drawn.layout.annotations}
    assert anchors["<b>answer</b>"] == "right"
    assert anchors["<b>float"] == "center"


def test_the_title_of_a_search_agrees_with_its_answer() -> None:
    chosen = _chosen()
    assert search_title(chosen).endswith("at least 25 dB: met")
    slow = replace(chosen, found=replace(chosen.found, answer=0))
    assert search_title(slow).endswith("at least 25 dB: met by none that is surely faster")
    none = replace(slow, found=replace(slow.found, within=(0,)))
    assert search_title(none).endswith("at least 25 dB: not met")


def test_where_size_is_the_goal_every_plan_stands_at_its_size() -> None:
    drawn = cast("Any", pareto(replace(_chosen(), goal="size"), picked=1, title="t"))
    assert list(drawn.data[1].x) == [100, 25, 25, 12.5]
    assert drawn.layout.xaxis.title.text.startswith("size")


def test_a_search_in_which_nothing_runs_says_why() -> None:
    chosen = _chosen()
    evaluations = (chosen.found.evaluations[0], chosen.found.evaluations[-1])
    nothing = replace(chosen.found, evaluations=evaluations, answer=0, nearest=None)
    told = "Float: of 1 plan tried none can be built and run. Float16 everywhere: it does not run."
    assert replace(chosen, found=nothing).finding == told


def test_everything_tried_is_in_the_table_with_its_problem() -> None:
    table = tried_table(_chosen())
    assert table["problem"] == ["", "", "", "", "it does not run"]
    assert table["within the budget"] == [True, True, False, False, False]
    assert regions_table(_chosen(), 2)["precision"] == ["static int8"]
