"""How far two outputs are apart, and whether that is too far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from optimizer.verify.budget import ErrorBudget
from optimizer.verify.feeds import Array

RTOL = 1e-3
ATOL = 1e-6

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What is still equal: every element within `atol + rtol * scale`.

    Attributes:
        rtol: share of the output's scale, the largest finite magnitude of the reference.
        atol: the same whatever the scale: rounding where the result should be zero.
        exact: only the same bits will do.
        budget: of error, in place of `rtol`: outputs are measured and never called equal.
    """

    rtol: float = RTOL
    atol: float = ATOL
    exact: bool = False
    budget: ErrorBudget | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output of both models, over all samples.

    Attributes:
        name: of the output.
        ok: within tolerance.
        reason: what is wrong, empty if nothing is.
        max_abs: largest absolute difference.
        max_rel: largest difference relative to the reference's own element, zeros left out.
        scale: largest finite magnitude of the reference.
        scaled: `max_abs` divided by `scale`; the figure the tolerance is about.
        sqnr_db: 10 log10(Σ x² / Σ (x − y)²), x the reference, summed over all samples; infinite
            where nothing differs, and in recordings of before it was measured.
        worst_db: the same of the worst sample alone.
        signal: Σ x² over all samples.
        noise: Σ (x − y)² over all samples.
        cosine: of the angle between both, 1 for the same direction; the worst sample's.
        same_bits: every bit is the same.
        constant: the reference has one value everywhere, so that agreeing says little.
        random: depends on a random operator, so that only type, shape and finiteness are compared.
    """

    name: str
    ok: bool
    reason: str = ""
    max_abs: float = 0.0
    max_rel: float = 0.0
    scale: float = 0.0
    scaled: float = 0.0
    sqnr_db: float = math.inf
    worst_db: float = math.inf
    signal: float = 0.0
    noise: float = 0.0
    cosine: float = 1.0
    same_bits: bool = False
    constant: bool = False
    random: bool = False

    def pooled(self, other: Comparison, budget: ErrorBudget | None = None) -> Comparison:
        """Both samples' figures in one: sums and scales of both, else the worse.

        A budget is held against the figures of all samples together: of one whose outputs happen
        to be near zero, any error is large. A tolerance holds for each sample.
        """
        wrong = [one for one in (self, other) if not one.ok and one.reason != one.beyond(budget)]
        max_abs, scale = max(self.max_abs, other.max_abs), max(self.scale, other.scale)
        signal, noise = self.signal + other.signal, self.noise + other.noise
        worst_db = min(self.sqnr_db, self.worst_db, other.sqnr_db, other.worst_db)
        summed = noise > 0 and math.isfinite(signal) and math.isfinite(noise)
        found = replace(
            wrong[0] if wrong else self,
            max_abs=max_abs,
            max_rel=max(self.max_rel, other.max_rel),
            scale=scale,
            scaled=max_abs / scale if scale else max(self.scaled, other.scaled),
            sqnr_db=_ratio_db(signal, noise) if summed else worst_db,
            worst_db=worst_db,
            signal=signal,
            noise=noise,
            cosine=min(self.cosine, other.cosine),
            same_bits=self.same_bits and other.same_bits,
            constant=self.constant and other.constant,
        )
        if wrong or budget is None:
            return found
        reason = found.beyond(budget)
        return replace(found, ok=not reason, reason=reason)

    def beyond(self, budget: ErrorBudget | None, atol: float = ATOL) -> str:
        """How far it is beyond a budget of error; empty if it is within, or there is none."""
        error = {"scaled": self.scaled, "sqnr_db": self.sqnr_db}
        if budget is None or self.max_abs <= atol or budget.holds(**error):
            return ""
        return f"{budget.measured(**error)} where {budget} are allowed"


def pooled(
    before: tuple[Comparison, ...], now: tuple[Comparison, ...], budget: ErrorBudget | None = None
) -> tuple[Comparison, ...]:
    """Outputs of the samples so far, none at first, with those of one more."""
    if not before:
        return now
    return tuple(one.pooled(other, budget) for one, other in zip(before, now, strict=True))


def compare(
    reference: Mapping[str, Array],
    candidate: Mapping[str, Array],
    *,
    tolerance: Tolerance,
    random: frozenset[str],
) -> tuple[Comparison, ...]:
    """All outputs that both have, in the reference's order."""
    return tuple(
        compare_output(name, expected, candidate[name], tolerance=tolerance, random=name in random)
        for name, expected in reference.items()
        if name in candidate
    )


def compare_output(
    name: str, expected: Array, actual: Array, *, tolerance: Tolerance, random: bool = False
) -> Comparison:
    """One output."""
    if expected.dtype != actual.dtype:
        reason = f"type {actual.dtype} instead of {expected.dtype}"
        return Comparison(name, ok=False, reason=reason, random=random)
    if expected.shape != actual.shape:
        reason = f"shape {_shape(actual)} instead of {_shape(expected)}"
        return Comparison(name, ok=False, reason=reason, random=random)
    same_bits = _same_bits(expected, actual)
    constant = _is_constant(expected)
    if random:
        reason = "" if _finite_alike(expected, actual) else _FINITE
        if not reason and not constant and expected.size > 1 and _is_constant(actual):
            reason = "always the same value, where the reference draws at random"
        return Comparison(name, not reason, reason, same_bits=same_bits, random=True)
    if expected.dtype == np.object_:
        reason = "" if same_bits else "other text"
        return Comparison(name, same_bits, reason, same_bits=same_bits, constant=constant)
    return _numbers(name, expected, actual, tolerance, same_bits=same_bits, constant=constant)


_FINITE = "infinities or NaNs in other places"


def _numbers(
    name: str,
    expected: Array,
    actual: Array,
    tolerance: Tolerance,
    *,
    same_bits: bool,
    constant: bool,
) -> Comparison:
    if same_bits:
        left = _finite(expected)
        scale, signal = _scale(left), _energy(left)
        return Comparison(
            name, ok=True, scale=scale, signal=signal, same_bits=True, constant=constant
        )
    left, right = _finite(expected), _finite(actual)
    difference = np.abs(left - right)
    max_abs = float(difference.max(initial=0.0))
    magnitude = np.abs(left)
    nonzero = magnitude > 0
    max_rel = float((difference[nonzero] / magnitude[nonzero]).max(initial=0.0))
    scale = _scale(left)
    sqnr_db, cosine = _likeness(left, right)
    noise = _energy(difference)
    found = Comparison(
        name,
        ok=True,
        max_abs=max_abs,
        max_rel=max_rel,
        scale=scale,
        scaled=max_abs / scale if scale else max_abs,
        sqnr_db=sqnr_db,
        worst_db=sqnr_db,
        signal=_energy(left),
        noise=noise,
        cosine=cosine,
        constant=constant,
    )
    reason = _verdict(expected, actual, tolerance, found)
    return replace(found, ok=not reason, reason=reason)


def _likeness(left: Floats, right: Floats) -> tuple[float, float]:
    """Signal over noise in decibels, and the cosine."""
    unit = max(_scale(left), _scale(right)) or 1.0
    one, other = left.ravel() / unit, right.ravel() / unit
    signal, energy, both = float(one @ one), float(other @ other), float(one @ other)
    noise = float(np.square(one - other).sum())
    norms = math.sqrt(signal * energy)
    cosine = min(1.0, both / norms) if norms else float(signal == energy)
    return _ratio_db(signal, noise), cosine


def _ratio_db(signal: float, noise: float) -> float:
    """Signal over noise in decibels."""
    ratio = signal / noise if noise else math.inf
    return 10 * math.log10(ratio) if ratio else -math.inf


def _energy(values: Floats) -> float:
    """Σ x²; infinite beyond what a double holds."""
    with np.errstate(over="ignore"):
        return float(np.square(values).sum())


def _verdict(expected: Array, actual: Array, tolerance: Tolerance, found: Comparison) -> str:
    """What is wrong with outputs whose bits differ; empty if nothing is."""
    max_abs, scale = found.max_abs, found.scale
    if not _finite_alike(expected, actual):
        return _FINITE
    if tolerance.exact:
        return f"not the same bits (largest difference {max_abs:.3g})"
    if expected.dtype == np.bool_ or (expected.dtype.kind in "iu" and expected.dtype.itemsize > 1):
        return f"other whole numbers (largest difference {max_abs:.3g})"
    if tolerance.budget is not None:
        return found.beyond(tolerance.budget, tolerance.atol)
    if max_abs > tolerance.atol + tolerance.rtol * scale:
        return f"off by {max_abs:.3g} where the output reaches {scale:.3g}"
    return ""


def _finite(array: Array) -> Floats:
    """As float64, with zeros for what is not finite."""
    values = array.astype(np.float64)
    return np.where(np.isfinite(values), values, 0.0)


def _scale(finite: Floats) -> float:
    return float(np.abs(finite).max(initial=0.0))


def _finite_alike(expected: Array, actual: Array) -> bool:
    """Whether NaN, +inf and -inf stand in the same places."""
    if expected.dtype.kind in "iubO":
        return True
    left, right = (array.astype(np.float64) for array in (expected, actual))
    special = np.array([np.nan, np.inf, -np.inf])
    return all(
        np.array_equal(_is(left, value), _is(right, value))
        for value in cast("list[float]", special)
    )


def _is(values: Floats, special: float) -> NDArray[np.bool_]:
    return np.isnan(values) if np.isnan(special) else values == special


def _same_bits(expected: Array, actual: Array) -> bool:
    if expected.dtype == np.object_:
        return bool(np.array_equal(expected, actual))
    return expected.tobytes() == actual.tobytes()


def _is_constant(array: Array) -> bool:
    if array.size == 0:
        return True
    if array.dtype == np.object_:
        return len(set(array.ravel().tolist())) == 1
    flat = array.ravel()
    if array.dtype.kind not in "iub" and not np.isfinite(flat.astype(np.float64)).any():
        return True
    return array.size > 1 and bool((flat == flat[0]).all())


def _shape(array: Array) -> str:
    return "×".join(str(size) for size in array.shape) or "scalar"
