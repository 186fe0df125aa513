from __future__ import annotations

import itertools
from collections import Counter

import pytest

from profiling.racing.plan import RacePlan, schedule
from profiling.racing.samples import Contrast, Verdict, contrast
from tests.lanes import slow_but
from tests.profiling.racing.noise import NOISES, Noise, simulated

RACES = 60
_MOST_ROUNDS = 160  # of two variants in twenty seconds
_UNLIKE = ("drifting", "crowded", "periodic")  # disturbed in three ways that have little in common


def raced(noise: Noise, *, slowdown: float, seed: int) -> Contrast:
    """The contrast when a race with the usual plan would stop."""
    plan = RacePlan()
    left, right = simulated(noise, slowdown=slowdown, rounds=_MOST_ROUNDS, seed=seed)
    found = contrast(left[: plan.rounds], right[: plan.rounds])
    for rounds in range(plan.rounds, _MOST_ROUNDS + 1, 10):
        found = contrast(left[:rounds], right[:rounds])
        if found.half_width <= plan.precision and not found.undecided:
            break
    return found


def verdicts(noise: Noise, *, slowdown: float) -> list[Verdict]:
    return [raced(noise, slowdown=slowdown, seed=seed).verdict for seed in range(RACES)]


@pytest.mark.thorough
@pytest.mark.parametrize("name", slow_but(_UNLIKE, NOISES))
def test_equal_variants_are_told_apart_in_one_race_of_sixty_at_most(name: str) -> None:
    found = verdicts(NOISES[name], slowdown=1.0)
    assert RACES - found.count("no_clear_difference") <= 1


@pytest.mark.thorough
@pytest.mark.parametrize("name", slow_but(_UNLIKE, NOISES))
def test_a_slowdown_of_a_tenth_is_found_in_nineteen_races_of_twenty(name: str) -> None:
    found = verdicts(NOISES[name], slowdown=1.1)
    assert found.count("faster") == 0
    assert found.count("slower") >= 0.95 * RACES


@pytest.mark.parametrize("name", ["calm", "bursts", "no memory"])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(name: str) -> None:
    covered = 0
    for seed in range(RACES):
        left, right = simulated(NOISES[name], slowdown=1.5, rounds=12, seed=seed)
        found = contrast(left, right)
        wider = 1.005  # for what two processes of one model differ by
        covered += found.low / wider <= 1 / 1.5 <= found.high * wider
    assert covered >= 0.9 * RACES


def test_a_difference_of_one_percent_is_measured_but_not_called_clear() -> None:
    found = raced(NOISES["calm"], slowdown=1.01, seed=1)
    assert found.verdict == "no_clear_difference"
    assert found.half_width < 0.01


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_every_variant_comes_equally_often_at_every_place_and_after_every_other(count: int) -> None:
    cycle = list(
        itertools.islice(schedule(count), count if count < 2 or count % 2 == 0 else 2 * count)
    )
    for place in range(count):
        assert len(set(Counter(order[place] for order in cycle).values())) == 1
    follows = Counter(pair for order in cycle for pair in itertools.pairwise(order))
    assert len(follows) == count * (count - 1)
    assert len(set(follows.values())) <= 1
