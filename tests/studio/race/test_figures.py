"""What is drawn and said about a race or a sweep."""

from __future__ import annotations

from dataclasses import replace

import pytest

from optimizer.verify import Comparison
from profiling.racing.race import Timing
from profiling.racing.sweep import Sweep, SweepPoint
from studio.figures.template import log_axis
from studio.race.finding import finding
from studio.race.latency_figure import axis_range, latency_strips
from studio.race.phases_figure import early_runs, phase_bars, phase_values, warm_up_lines
from studio.race.report import cold_note, how, percentiles, phase_table
from studio.race.speedup_figure import speedup_forest
from studio.race.sweep.figure import latency_lines, throughput_lines
from studio.race.sweep.job import sweep_finding
from studio.race.sweep.page import sweep_table
from tests.studio.races import SWEPT, THREE, blocks, deployed, drawn, race, timing

HOSTILE = "<a href='//x'>*b*</a>"


def test_the_finding_of_two_is_the_verdict_on_the_second() -> None:
    two = race([timing("source"), timing("default preset", 0.5)])
    assert finding(two).startswith("Default preset: 2.00× faster, 95 % interval")


def test_the_finding_of_several_is_the_fastest() -> None:
    assert finding(THREE).startswith("Best of 3: runtime preset, 1.43× faster")


def scattered(label: str, factors: list[float]) -> Timing:
    """A variant that takes another share of a millisecond in each round."""
    one = timing(label)
    rounds = zip(one.blocks_ms, factors, strict=True)
    return replace(one, blocks_ms=tuple(tuple(f * ms for ms in block) for block, f in rounds))


UNSURE = [0.55, 0.6, 0.62, 0.63, 0.64, 0.65, 0.65, 0.95, 0.98, 1.05, 1.12, 1.25]
"""A lower median than 0.8 all the time, and not surely faster than 1."""


def test_a_lower_median_that_is_not_sure_is_named_before_a_sure_gain() -> None:
    found = race(
        [timing("source"), timing("default preset", 0.8), scattered("runtime preset", UNSURE)]
    )
    contrast = found.contrast("runtime preset")
    assert contrast is not None
    assert contrast.undecided
    assert finding(found) == (
        "Lowest median: runtime preset, probably faster; "
        f"sure: default preset, {found.verdict('default preset')}"
    )
    assert finding(deployed(found), found).endswith("bare: default preset, 1.25× faster")


def test_a_lead_that_is_not_sure_says_over_whom() -> None:
    close = race([timing("source"), timing("a", 0.801), timing("b", 0.8)])
    assert finding(close).startswith("Best of 3: b, 1.25× faster")
    assert finding(close).endswith("; not clearly ahead of a")


def test_rounds_overrule_a_median_that_other_work_disturbed() -> None:
    lucky, steady = timing("lucky", 0.8), timing("steady", 0.7)
    slow = tuple((*block[:4], *(2 * ms for ms in block[4:])) for block in steady.blocks_ms)
    found = race([timing("source"), lucky, replace(steady, blocks_ms=slow)])
    medians = [one.summary.p50_ms for one in found.timings if one.summary]
    assert medians[1] < medians[2]
    assert finding(found).startswith("Best of 3: steady, 1.4")


def test_the_headline_is_about_deployment_and_then_about_the_file() -> None:
    bare = race([timing("source"), timing("default preset", 0.5)])
    same = deployed(race([timing("source", 0.4), timing("default preset", 0.4)]))
    assert finding(same, bare) == (
        "Default preset, deployed: no clear difference; bare: 2.00× faster"
    )
    assert finding(deployed(THREE), THREE) == (
        "Deployed: runtime preset, 1.43× faster; bare: runtime preset, 1.43× faster"
    )


def test_a_headline_without_a_gain_says_so_for_each_question() -> None:
    slower = race([timing("source"), timing("a", 2.0), timing("b", 3.0)])
    wrong = race([replace(one, error="It died.") for one in slower.timings])
    assert finding(deployed(slower), wrong) == (
        "Deployed: nothing beats source; bare: no comparison"
    )


def test_both_questions_stand_in_one_figure_each_under_its_name() -> None:
    both = (deployed(THREE), THREE)
    figure = drawn(latency_strips(*both, title=""))
    heads = [note["text"] for note in figure["layout"]["annotations"]]
    assert sum(text.startswith(("<b>Deployed</b>: ", "<b>Bare</b>: ")) for text in heads) == 2
    axes = {trace["xaxis"] for trace in figure["data"]}
    assert axes == {"x", "x2"}
    above, below = (figure["layout"][axis]["domain"] for axis in ("yaxis", "yaxis2"))
    assert above[0] > below[1]
    notes = [note["text"] for note in drawn(speedup_forest(*both))["layout"]["annotations"]]
    assert [text.partition(":")[0] for text in notes] == ["deployed", "deployed", "bare", "bare"]


def test_the_forest_says_every_verdict_in_full() -> None:
    found = race([timing("source"), scattered("unsure", UNSURE), timing("same")])
    notes = [note["text"] for note in drawn(speedup_forest(found))["layout"]["annotations"]]
    contrasts = [found.contrast(label) for label in ("unsure", "same")]
    assert notes == [one.brief for one in contrasts if one is not None]
    assert all("…" not in note for note in notes)


def test_a_variant_of_a_race_cut_short_waits_for_nothing() -> None:
    waiting = replace(timing("default preset"), blocks_ms=(), phases=None)
    for over, text in ((False, "waiting for its turn"), (True, "not measured")):
        figure = drawn(latency_strips(race([timing("source"), waiting]), title="", over=over))
        assert text in [note["text"] for note in figure["layout"]["annotations"]]


def test_no_gain_is_said_as_such() -> None:
    slower = race([timing("source"), timing("a", 2.0), timing("b", 3.0)])
    assert finding(slower) == "Nothing beats source: 2 others are slower"
    equal = race([timing("source"), timing("a"), timing("b", 2.0)])
    assert finding(equal) == "No clear gain over source: 2 others are not clearly faster"


def test_a_variant_that_computes_something_else_wins_nothing() -> None:
    wrong = replace(
        timing("default preset", 0.1), outputs=(Comparison("y", ok=False, reason="nan"),)
    )
    assert finding(race([timing("source"), wrong])).startswith("No comparison: default preset")


def test_a_broken_variant_leaves_the_others_their_finding() -> None:
    broken = replace(timing("step 3", error="The worker died."), blocks_ms=())
    found = race([timing("source"), broken, timing("default preset", 0.5)])
    assert finding(found).startswith("Best of 2: default preset, 2.00× faster")


def test_a_sweep_says_what_is_gained_at_both_ends() -> None:
    assert sweep_finding(SWEPT) == "Default preset against source: 2.00× at batch 1, 4.00× at 4"


def test_a_sweep_without_times_claims_nothing() -> None:
    empty = replace(SWEPT, points=SWEPT.points[1:2])
    assert sweep_finding(empty) == "no comparison at any batch yet"


def test_an_axis_stays_while_runs_come_in() -> None:
    fewer = [timing("source", rounds=6), timing("default preset", 0.8, rounds=6)]
    more = [timing("source", rounds=60), timing("default preset", 0.8, rounds=60)]
    assert axis_range(fewer) == axis_range(more)
    heights = {
        drawn(latency_strips(race(some), title=""))["layout"]["height"] for some in (fewer, more)
    }
    assert len(heights) == 1


def test_dots_that_are_shown_stay_where_they_are() -> None:
    def dots(rounds: int) -> set[tuple[float, float]]:
        figure = drawn(latency_strips(race([timing("source", rounds=rounds)]), title=""))
        trace = next(trace for trace in figure["data"] if trace["type"] == "scatter")
        return set(zip(trace["x"], trace["y"], strict=True))

    few, many = dots(20), dots(90)
    assert len(many) <= 450
    assert len(few & many) >= len(few) / 4


def test_variants_that_wait_keep_their_rows() -> None:
    waiting = replace(timing("default preset"), blocks_ms=(), phases=None)
    for figure in (
        latency_strips(race([timing("source"), waiting]), title=""),
        latency_strips(race([waiting]), title=""),
        speedup_forest(race([timing("source"), waiting])),
    ):
        assert "default preset " in drawn(figure)["layout"]["yaxis"]["ticktext"]


def test_the_forest_draws_intervals_around_one() -> None:
    figure = drawn(speedup_forest(THREE))
    assert figure["layout"]["yaxis"]["ticktext"] == ["default preset ", "runtime preset "]
    intervals = [trace["x"] for trace in figure["data"] if trace["mode"] == "lines"]
    assert len(intervals) == 2
    assert all(1 < low <= high for low, high in intervals)
    low, high = figure["layout"]["xaxis"]["range"]
    assert low < 0 < high


def test_phases_add_up_to_cold_and_one_warm_run() -> None:
    one = timing("source")
    values = phase_values(one)
    assert values[:4] == [30.0, 20.0, 10.0, 20.0]
    assert values[4] == pytest.approx(1.01, abs=0.02)
    figure = drawn(phase_bars(race([one])))
    assert [trace["x"][0] for trace in figure["data"]] == pytest.approx(values)


def test_the_change_point_is_marked_at_the_first_warm_run() -> None:
    one = timing("source")
    line, mark = drawn(warm_up_lines(race([one])))["data"]
    assert (mark["x"], mark["y"]) == ([6], [1.0])
    assert one.phases is not None
    assert line["y"] == early_runs(one.phases)


def test_a_label_stays_text_in_every_figure() -> None:
    hostile = race([timing("source"), timing(HOSTILE, 0.5)])
    swept = Sweep(HOSTILE, ("source", HOSTILE), (SweepPoint(1, hostile),))
    for figure in (
        latency_strips(hostile, title=finding(hostile)),
        speedup_forest(hostile),
        speedup_forest(race([timing(HOSTILE), timing("source")])),
        phase_bars(hostile),
        warm_up_lines(hostile),
        latency_lines(swept, title=sweep_finding(swept), sizes=[1]),
        throughput_lines(swept, sizes=[1]),
    ):
        assert "<a href" not in str(drawn(figure))
        assert "&lt;a href" in str(drawn(figure))


def test_a_sweep_draws_a_line_a_variant_over_all_sizes() -> None:
    figure = drawn(latency_lines(SWEPT, title="", sizes=[1, 2, 4]))
    lines = [trace for trace in figure["data"] if trace["mode"] == "lines+markers"]
    assert [line["x"] for line in lines] == [[1, 4], [1, 4]]
    assert figure["layout"]["xaxis"]["tickvals"] == [1, 2, 4]
    rates = [trace["y"] for trace in drawn(throughput_lines(SWEPT, sizes=[1, 2, 4]))["data"]]
    assert rates[1][0] == pytest.approx(2000, rel=0.02)


@pytest.mark.parametrize(
    "values", [[], [1.0], [0.2, 0.5], [3.0, 8000.0], [1e-4, 1e5], [0.0, 2.0], [5.0, 5.0]]
)
def test_a_logarithmic_axis_holds_its_values_between_two_marks(values: list[float]) -> None:
    axis = log_axis(values)
    low, high = (10**end for end in axis["range"])
    assert all(low <= value * 1.0001 and value <= high * 1.0001 for value in values if value)
    assert 2 <= len(axis["tickvals"]) <= 12


def test_growing_data_moves_no_axis_until_it_leaves_it() -> None:
    assert log_axis([0.3, 3.0]) == log_axis([0.25, 2.1, 4.9])


def test_the_table_has_a_row_for_every_variant_also_a_broken_one() -> None:
    broken = replace(timing("step 3", error="It died."), blocks_ms=(), peak_bytes=0, outputs=())
    table = percentiles([race([timing("source"), broken])])
    assert table["verdict"] == ["the baseline", "not measured: It died."]
    assert table["p50, ms"][1] is None
    assert table["outputs"] == ["equal", "not compared"]


def test_the_phase_table_says_how_much_of_the_wall_time_it_explains() -> None:
    one = timing("source")
    assert one.phases is not None
    total = sum(one.parts_ms.values())
    known = replace(one, phases=replace(one.phases, wall_ms=total / 0.99))
    assert phase_table([race([known])])["accounted for"] == ["99.0 %"]


def test_the_caption_names_machine_date_and_runs() -> None:
    text = how(THREE)
    assert "Test CPU" in text
    assert "2026-11-21 12:00:00 UTC" in text
    assert "120 runs each" in text


def test_the_note_compares_cold_with_warm_in_the_visitors_own_numbers() -> None:
    note = cold_note(timing("source"))
    assert "60 ms cold" in note
    assert "**59.4×**" in note
    assert "inference" in note


def test_the_note_claims_nothing_that_the_race_does_not_show() -> None:
    slow = replace(timing("source"), blocks_ms=blocks(100.0))
    assert "Your own race shows the same" not in cold_note(slow)
    assert "cold and warm are close" in cold_note(slow)


def test_there_is_no_note_without_warm_runs() -> None:
    assert cold_note(replace(timing("source"), blocks_ms=())) == ""


def test_the_sweep_table_has_a_row_a_size_and_variant() -> None:
    table = sweep_table([SWEPT])
    assert table["batch"] == [1, 1, 4, 4]
    assert table["variant"] == ["source", "default preset"] * 2
