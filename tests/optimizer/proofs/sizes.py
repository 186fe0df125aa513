"""Slices of slices for all sizes, starts, ends and steps: linear integer arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.optimizer.proofs.smt import Term, z3

Number = Term
Least = Callable[[Number, Number], Number]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range from `start` to before `stop`, as `optimizer.passes.block.ranges.Range` has them."""

    start: Number
    stop: Number


def taken(bounds: Bounds, size: Number, least: Least, most: Least) -> Bounds:
    """What Slice takes of an axis; both bounds count from the front."""
    start = least(bounds.start, size)
    return Bounds(start, most(least(bounds.stop, size), start))


def twice(inner: Bounds, outer: Bounds, size: Number, least: Least, most: Least) -> Bounds:
    """One Slice after the other: places in the source."""
    first = taken(inner, size, least, most)
    second = taken(outer, first.stop - first.start, least, most)
    return Bounds(first.start + second.start, first.start + second.stop)


def merged(inner: Bounds, outer: Bounds, least: Least) -> Bounds:
    """The one range of `Range.of`."""
    stop = least(inner.stop, inner.start + outer.stop)
    return Bounds(inner.start + outer.start, stop)


def _smaller(a: Term, b: Term) -> Term:
    return z3.If(a < b, a, b)


def _larger(a: Term, b: Term) -> Term:
    return z3.If(a < b, b, a)


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that holds for all integers, or is shown not to.

    Attributes:
        text: in words.
        holds: whether it should.
        inner_step: of the first Slice.
        from_front: whether starts and ends have to count from the front.
    """

    text: str
    holds: bool = True
    inner_step: int = 1
    from_front: bool = True

    def verdict(self) -> str:
        """What Z3 says."""
        size, moved = z3.Ints("n j·step")
        a, b = z3.Ints("start₁ end₁")
        c, d = z3.Ints("start₂ end₂")
        inner, outer = Bounds(a, b), Bounds(c, d)
        solver = z3.Solver()
        solver.add(size >= 0, moved >= 0, a >= 0, b >= 0)
        solver.add([c >= 0, d >= 0] if self.from_front else [c >= -size, d >= -size, c < 0])
        if self.from_front:
            whole = _stepped(inner, outer, size, self.inner_step)
        else:
            length = taken(inner, size, _smaller, _larger)
            count = length.stop - length.start
            ends = z3.If(d < 0, d + count, d)
            solver.add(c + count >= 0, ends >= 0)
            whole = twice(inner, Bounds(c + count, ends), size, _smaller, _larger)
        one = taken(merged(inner, outer, _smaller), size, _smaller, _larger)
        within = (whole.start + moved < whole.stop, one.start + moved < one.stop)
        apart = z3.And(within[0], whole.start != one.start)
        solver.add(z3.Or(within[0] != within[1], apart))
        if solver.check() == z3.unsat:
            return "proved"
        model = solver.model()
        values = ", ".join(f"{v} = {model.eval(v, True)}" for v in (size, a, b, c, d))
        return f"refuted: {values}"


def _stepped(inner: Bounds, outer: Bounds, size: Term, step: int) -> Bounds:
    """Two Slices, of which the first one has a step."""
    if step == 1:
        return twice(inner, outer, size, _smaller, _larger)
    first = taken(inner, size, _smaller, _larger)
    count = (first.stop - first.start + step - 1) / step
    second = taken(outer, count, _smaller, _larger)
    return Bounds(first.start + second.start * step, first.start + second.stop * step)


CLAIMS = (
    Claim(
        "`merge-slices`: a Slice of a Slice takes what one from start₁ + start₂ to before"
        " min(end₁, start₁ + end₂) takes, with the outer step, of an axis of any size"
    ),
    Claim("The same where the first Slice has step 2", holds=False, inner_step=2),
    Claim("The same where the second one counts from the end", holds=False, from_front=False),
)
