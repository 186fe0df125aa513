from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from profiling.config import RunConfig
from profiling.machine import this_machine
from profiling.racing.race import Race, Timing
from profiling.racing.samples import contrast
from profiling.worth.levels import Heat, Levels, student

TRUE_MS = {0: 10.0, 4: 8.0, 6: 8.0, 8: 5.0, 12: 4.0}


def heat(
    steps: tuple[int, ...], *, rounds: int, seed: int, drift: float = 1.0, noise: float = 0.02
) -> Heat:
    """A race with known latencies, a machine that drifts, and noise in every block."""
    generator = np.random.default_rng(seed)
    slow = drift * (1 + 0.3 * generator.random(rounds))
    timings = [
        Timing(
            f"step {step}",
            RunConfig(),
            blocks_ms=tuple(
                (float(TRUE_MS[step] * slow[r] * np.exp(noise * generator.standard_normal())),)
                for r in range(rounds)
            ),
        )
        for step in steps
    ]
    return Heat(steps, Race(tuple(timings), (), True, this_machine(), 0.0, "", 0.0))


def test_one_race_gives_about_what_a_contrast_of_its_ends_gives() -> None:
    single = heat((0, 4, 12), rounds=20, seed=1)
    change = Levels([single]).change((0, 12))
    first, _, last = single.race.timings
    robust = contrast(first.blocks_ms, last.blocks_ms).speedup
    assert change.speedup == pytest.approx(robust, rel=0.01)


def test_segments_add_up_to_the_whole_over_races_with_different_points() -> None:
    heats = [
        heat((0, 4, 12), rounds=15, seed=2),
        heat((0, 4, 6, 8, 12), rounds=9, seed=3, drift=1.7),
    ]
    levels = Levels(heats)
    assert levels.points == (0, 4, 6, 8, 12)
    spans = [(0, 4), (4, 6), (6, 8), (8, 12)]
    parts = [levels.change(span) for span in spans]
    total = levels.change((0, 12))
    assert sum(part.log for part in parts) == pytest.approx(total.log, abs=1e-12)
    together = levels.change(*spans)
    assert (together.log, together.low, together.high) == pytest.approx(
        (total.log, total.low, total.high)
    )
    assert [part.clear for part in parts] == [True, False, True, True]
    for part, (first, last) in zip(parts, spans, strict=True):
        assert part.speedup == pytest.approx(TRUE_MS[first] / TRUE_MS[last], rel=0.05)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    truth = math.log(TRUE_MS[4] / TRUE_MS[8])
    hits = 0
    for seed in range(200):
        heats = [
            heat((0, 4, 12), rounds=8, seed=2 * seed),
            heat((0, 4, 8, 12), rounds=6, seed=2 * seed + 1),
        ]
        change = Levels(heats).change((4, 8))
        hits += change.low <= truth <= change.high
    assert 180 <= hits <= 199


def test_a_noisy_race_does_not_spoil_a_quiet_one() -> None:
    quiet = heat((0, 4, 12), rounds=12, seed=6)
    noisy = heat((0, 8, 12), rounds=6, seed=7, noise=0.5)
    alone = Levels([quiet]).change((0, 12))
    both = Levels([quiet, noisy]).change((0, 12))
    assert both.high - both.low < 1.2 * (alone.high - alone.low)
    assert both.clear


def test_a_race_of_one_round_does_not_outweigh_the_others() -> None:
    races = [heat((0, 4, 12), rounds=12, seed=9), heat((0, 8, 12), rounds=1, seed=10, noise=0.3)]
    change = Levels(races).change((0, 12))
    assert change.speedup == pytest.approx(TRUE_MS[0] / TRUE_MS[12], rel=0.05)
    assert change.clear
    assert change.high - change.low < 0.2


def test_a_hiccup_in_one_block_is_no_difference() -> None:
    calm = heat((0, 4, 12), rounds=12, seed=8)
    first, middle, last = calm.race.timings
    blocks = (*middle.blocks_ms[:-1], (40 * middle.blocks_ms[-1][0],))
    race = replace(calm.race, timings=(first, replace(middle, blocks_ms=blocks), last))
    change = Levels([Heat((0, 4, 12), race)]).change((0, 4))
    assert change.speedup == pytest.approx(TRUE_MS[0] / TRUE_MS[4], rel=0.05)
    assert change.clear


def test_points_that_compute_something_else_are_left_out() -> None:
    single = heat((0, 4, 12), rounds=8, seed=4)
    broken = Timing("step 4", RunConfig(), error="it crashed")
    first, _, last = single.race.timings
    race = Race((first, broken, last), (), True, single.race.machine, 0.0, "", 0.0)
    assert Levels([Heat((0, 4, 12), race)]).points == (0, 12)


def test_too_few_rounds_claim_nothing() -> None:
    assert not Levels([heat((0, 12), rounds=4, seed=5)]).change((0, 12)).clear
    assert Levels([heat((0, 12), rounds=1, seed=5)]).change((0, 12)).high == math.inf


@pytest.mark.parametrize(("freedom", "quantile"), [(4, 2.776), (9, 2.262), (30, 2.042)])
def test_students_quantile_is_the_tables(freedom: int, quantile: float) -> None:
    assert student(freedom) == pytest.approx(quantile, rel=0.002)
