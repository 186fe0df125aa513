"""Methods that choose ranges, held to optima that are known and to their papers' formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from optimizer.errors import StudioError
from optimizer.precision.histogram import Histogram
from optimizer.precision.ranges import Range
from optimizer.precision.threshold import Integers, find_method, methods, ranges_of
from optimizer.precision.thresholds.entropy import LEVELS, best_bins, kl_divergences

SYMMETRIC_8, SYMMETRIC_4 = Integers(8, symmetric=True), Integers(4, symmetric=True)
MANY = 400_000


def histogram_of(*batches: np.ndarray) -> Histogram:
    found = Histogram()
    for batch in batches:
        found.add(batch)
    return found


def quantiles(inverse: np.ndarray) -> Histogram:
    """A distribution without chance: its quantiles at even distances, and what they are below 0."""
    return histogram_of(inverse, -inverse)


def laplace() -> Histogram:
    share = (np.arange(MANY) + 0.5) / MANY
    return quantiles(-np.log1p(-share))


def gaussian(size: int = MANY) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(size).astype(np.float32)


def with_outliers() -> Histogram:
    return histogram_of(gaussian(100_000), np.full(5, 40.0))


def chosen(method_id: str, histogram: Histogram, integers: Integers) -> Range:
    return find_method(method_id).function(histogram, integers)


@pytest.mark.parametrize(("integers", "optimum"), [(SYMMETRIC_8, 9.89), (SYMMETRIC_4, 5.03)])
def test_squared_error_of_a_laplace_is_least_where_aciq_says(
    integers: Integers, optimum: float
) -> None:
    """The optimum a solves a·exp(a) = 3·4^bits for 2^bits steps; here there are 2 fewer."""
    found = chosen("mse", laplace(), integers).high
    steps = integers.steps
    assert found * math.exp(found) == pytest.approx(3 * steps**2, rel=0.05)
    assert found == pytest.approx(optimum, rel=0.05)


@pytest.mark.parametrize(("integers", "optimum"), [(SYMMETRIC_8, 3.92), (SYMMETRIC_4, 2.55)])
def test_squared_error_of_a_gaussian_is_least_where_the_literature_says(
    integers: Integers, optimum: float
) -> None:
    assert chosen("mse", histogram_of(gaussian()), integers).high == pytest.approx(
        optimum, rel=0.04
    )


def test_squared_error_of_a_uniform_distribution_clips_nothing_to_speak_of() -> None:
    evenly = histogram_of(np.linspace(-1, 1, MANY))
    assert chosen("mse", evenly, SYMMETRIC_8).high == pytest.approx(1.0, abs=0.005)
    assert chosen("entropy", evenly, SYMMETRIC_8).high == 1.0


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("symmetric", [True, False])
def test_squared_error_is_the_least_of_all_ranges_by_rounding_the_numbers_themselves(
    bits: int, symmetric: bool
) -> None:
    numbers = np.where(gaussian(20_000) < 0, 0.2, 1.0) * gaussian(20_000)
    integers = Integers(bits, symmetric)
    found = chosen("mse", histogram_of(numbers), integers)

    def error(low: float, high: float) -> float:
        step = (high - low) / integers.steps
        rounded = np.clip(np.round(numbers / step), round(low / step), round(high / step)) * step
        return float(((rounded - numbers) ** 2).mean())

    shares = np.linspace(0.4, 1.0, 25)
    grid = [
        (numbers.min() * below, numbers.max() * above)
        for below in shares
        for above in shares
        if not symmetric
    ] or [(-numbers.max() * share, numbers.max() * share) for share in shares]
    assert error(found.low, found.high) <= 1.03 * min(error(*ends) for ends in grid)


def test_entropy_and_percentile_leave_five_outliers_out_and_the_others_do_not() -> None:
    ends = {m.id: m.function(with_outliers(), SYMMETRIC_8).high for m in methods()}
    assert 4 < ends["entropy"] < 5.5
    assert 3.5 < ends["percentile"] < 4.5
    assert ends["min-max"] == 40
    assert ends["mse"] > 30  # five squares of 35 weigh more than finer steps


def literal_divergence(counts: list[int], kept: int) -> float:
    """KL(P ‖ Q) for one number of bins by the procedure of the slides, bin by bin."""
    p = [float(count) for count in counts[:kept]]
    p[-1] += sum(counts[kept:])
    q = [0.0] * kept
    for level in range(LEVELS):
        members = [j for j in range(kept) if j * LEVELS // kept == level and counts[j]]
        for j in members:
            q[j] = sum(counts[k] for k in members) / len(members)
    divergence = 0.0
    for one, other in zip(p, q, strict=True):
        if one and not other:
            return math.inf
        if one:
            divergence += one / sum(p) * math.log(one / sum(p) / (other / sum(q)))
    return divergence


def test_entropy_is_the_formula_of_the_slides_taken_literally() -> None:
    numbers = np.abs(gaussian(3000)) ** 1.5
    width = 40.0 / 2048
    counts = np.bincount((numbers / width).astype(int), minlength=2048)
    counts[[1500, 2047]] = 2
    ours = kl_divergences(counts)
    for kept in [*range(LEVELS, 2049, 97), 1501, 2048]:
        literal = literal_divergence(counts.tolist(), kept)
        assert ours[kept - LEVELS] == pytest.approx(literal, rel=1e-9, abs=1e-12), kept
    assert best_bins(counts) == LEVELS + int(np.argmin(ours))


def test_exact_zeros_do_not_move_the_threshold_of_entropy() -> None:
    numbers = gaussian(50_000)
    zeros = np.zeros(100_000)
    assert chosen("entropy", histogram_of(numbers, zeros), SYMMETRIC_8) == chosen(
        "entropy", histogram_of(numbers), SYMMETRIC_8
    )


def test_min_max_and_percentile_keep_the_ends_that_were_seen() -> None:
    some = histogram_of(np.linspace(-1, 3, 1001))
    assert chosen("min-max", some, Integers()) == Range(-1.0, 3.0)
    assert chosen("min-max", some, SYMMETRIC_8) == Range(-3.0, 3.0)
    assert chosen("percentile", some, Integers()) == Range(-1.0, 3.0)


@pytest.mark.parametrize("share", [0.9, 0.9999])
def test_percentile_holds_its_share_to_a_bin(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimizer.precision.thresholds.percentile.SHARE", share)
    numbers = gaussian()
    some = histogram_of(numbers)
    found = chosen("percentile", some, SYMMETRIC_8)
    assert found.high == pytest.approx(np.quantile(np.abs(numbers), share), abs=some.width)
    found = chosen("percentile", some, Integers())
    assert found.low == pytest.approx(np.quantile(numbers, (1 - share) / 2), abs=some.width)
    assert found.high == pytest.approx(np.quantile(numbers, (1 + share) / 2), abs=some.width)


@pytest.mark.parametrize("method_id", [method.id for method in methods()])
@pytest.mark.parametrize("integers", [Integers(), SYMMETRIC_8, SYMMETRIC_4])
@pytest.mark.parametrize(
    "numbers", [[0.0], [7.0], [-3.0], [5.0, 6.0], [1e-40], [3e38, -1.0]], ids=str
)
def test_few_numbers_have_a_range_that_reaches_no_farther_than_they_do(
    method_id: str, integers: Integers, numbers: list[float]
) -> None:
    found = chosen(method_id, histogram_of(np.array(numbers, np.float32)), integers)
    assert found.magnitude <= float(np.abs(np.array(numbers, np.float32)).max())
    assert integers.symmetric <= (found.low == -found.high)


def test_a_table_has_no_row_for_a_value_without_a_finite_number() -> None:
    values = {"x": histogram_of(np.ones(3)), "y": histogram_of(np.full(3, np.nan))}
    assert ranges_of(values, "min-max", SYMMETRIC_8) == {"x": Range(-1.0, 1.0)}


def test_a_method_that_does_not_exist_is_told_with_those_that_do() -> None:
    with pytest.raises(StudioError, match="no method 'kl'; there are min-max, percentile, entropy"):
        find_method("kl")


def test_every_method_names_its_source() -> None:
    assert [m.id for m in methods() if "Source:" not in m.documentation] == []
