from __future__ import annotations

from collections.abc import Mapping, Sequence

from profiling.worth.waterfall import By, Metric, StepCost, pass_boundaries, waterfall

STEPS = (
    StepCost(1, "fold", "A", {"nodes": -2, "flops": 0, "bytes": -10}),
    StepCost(2, "fold", "B", {"nodes": 1, "flops": 5, "bytes": 4}),
    StepCost(3, "fuse", "C", {"nodes": -1, "flops": -7, "bytes": -3}),
    StepCost(4, "fold", "A", {"nodes": -1, "flops": 0, "bytes": 0}),
)
TOTALS: Mapping[Metric, Sequence[int]] = {"nodes": (10, 7), "flops": (100, 98), "bytes": (50, 41)}
WAYS: Sequence[tuple[By, int]] = (("pass", 2), ("rule", 3), ("step", 4))


def test_bars_add_up_however_they_are_grouped() -> None:
    for metric in TOTALS:
        for by, count in WAYS:
            found = waterfall(STEPS, TOTALS, metric=metric, by=by)
            assert found.elsewhere == 0
            assert len(found.bars) == count


def test_a_pass_that_fires_in_several_rounds_is_one_bar() -> None:
    fold, fuse = waterfall(STEPS, TOTALS, metric="nodes").bars
    assert (fold.pass_id, fold.steps, fold.change) == ("fold", (1, 2, 4), -2)
    assert (fuse.pass_id, fuse.steps, fuse.change) == ("fuse", (3,), -1)


def test_the_strongest_bar_is_the_one_that_saved_most() -> None:
    strongest = waterfall(STEPS, TOTALS, metric="bytes", by="rule").strongest
    assert strongest is not None
    assert (strongest.rule, strongest.change) == ("A", -10)
    grown = [StepCost(1, "fold", "A", {"nodes": 1, "flops": 0, "bytes": 0})]
    assert waterfall(grown, {"nodes": (1, 2)}, metric="nodes").strongest is None


def test_totals_that_steps_do_not_explain_are_not_hidden() -> None:
    assert waterfall(STEPS, {"nodes": (10, 8)}, metric="nodes").elsewhere == 1


def test_passes_are_cut_where_another_one_goes_on() -> None:
    assert pass_boundaries(STEPS) == (0, 2, 3, 4)
    assert pass_boundaries(()) == (0,)
