"""What a plan says, in words."""

from __future__ import annotations

from optimizer.memory.plan import Plan
from optimizer.numbers import bytes_text, three_digits, times_text, unit_of


def peaks_text(before: int | None, after: int) -> str:
    """Two peaks in the unit of the larger one: "12.3 → 9.63 MiB"; once where they are equal.

    Where three digits do not tell them apart, their difference does: "288 KiB, 256 B less than
    before".
    """
    unit = unit_of(max(before or 0, after))
    if before is None or before == after:
        return unit.text(after) + (" as before" if before == after else "")
    if unit.text(before) == unit.text(after):
        more = "more" if after > before else "less"
        return f"{unit.text(after)}, {bytes_text(abs(after - before))} {more} than before"
    return f"{unit.number(before)} → {unit.text(after)}"


def proof_text(plan: Plan) -> str:
    """How good a plan is, and how sure that is."""
    if plan.certificate == "meets the bound":
        return "at the lower bound, proven"
    above = 100 * (plan.peak_bytes / plan.bound_bytes - 1) if plan.bound_bytes else 0.0
    gap = f"{three_digits(above)} % above the most alive at once"
    if plan.certificate == "search exhausted":
        return f"proven optimal, {gap}"
    return f"{gap}, not proven"


def times_bound(plan: Plan) -> str:
    """The peak in multiples of the bound: "1.17×"."""
    factor = plan.peak_bytes / plan.bound_bytes if plan.bound_bytes else 1.0
    return times_text(factor)
