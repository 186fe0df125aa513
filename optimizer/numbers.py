"""Numbers as people read them: three significant digits, a unit, and a noun that agrees.

Bytes are binary (1 KiB = 1024 B), as allocators, caches and limits count them. Everything else is
decimal, rates included (k, M, G; GB/s), as data sheets write it. A multiply-accumulate is 2 FLOP.
The viewer's `page/numbers.js` follows the same rule; `tests/numbers.json` says what both must give.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

FLOP_MEANS = "a multiply-accumulate is 2 FLOP"
"""Wherever work is told, so is how it was counted."""

_BYTES = tuple(
    (1 << 10 * power, name)
    for power, name in reversed(
        list(enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB")))
    )
)
_MOST_EXACT = Decimal(10) ** 21
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def three_digits(number: float) -> str:
    """Three significant digits without an exponent, halves up: 0.0123, 4.56, 2,820."""
    exact = Decimal(float(number))
    if exact.is_zero() or not exact.is_finite() or abs(exact) >= _MOST_EXACT:
        return f"{number:,.0f}"
    places = max(0, 2 - exact.adjusted())
    rounded = exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    text = f"{rounded:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit at a magnitude.

    Attributes:
        name: as it is written: `MiB`, `GFLOP`.
        size: in bytes, in FLOP, ….
    """

    name: str
    size: float

    def number(self, amount: float) -> str:
        """Three digits."""
        return three_digits(amount / self.size)

    def text(self, amount: float) -> str:
        """Three digits and the unit."""
        return f"{self.number(amount)} {self.name}".rstrip()


def unit_of(size_bytes: float) -> Unit:
    """The unit in which so many bytes are easy to read."""
    size, name = next(one for one in _BYTES if size_bytes >= one[0] - one[0] / 2048 or one[0] == 1)
    return Unit(name, size)


def bytes_text(size_bytes: float) -> str:
    """Three digits in the unit that suits: `9.63 MiB`."""
    return unit_of(abs(size_bytes)).text(size_bytes)


def decimal_unit(amount: float, name: str) -> Unit:
    """The unit, with a prefix, in which such an amount is easy to read: `GFLOP`."""
    size, prefix = next(one for one in _PREFIXES if amount >= 0.9995 * one[0] or one[0] == 1.0)
    return Unit(f"{prefix}{name}", size)


def digits(number: float) -> float:
    """Four significant digits, as tables show them."""
    return float(f"{number:.4g}")


def mebibytes(size_bytes: float | None) -> float | None:
    """Bytes in MiB, as tables show them; None where none are known."""
    return None if size_bytes is None else digits(size_bytes / (1 << 20))


def amount_text(amount: float, name: str = "") -> str:
    """Three digits in thousands, millions, …: `3.7 GFLOP`, `25.6 M`."""
    return decimal_unit(abs(amount), name).text(amount)


def times_text(ratio: float) -> str:
    """A ratio, which is compared by its hundredths: `1.50×`, `12.3×`."""
    return f"{ratio:.2f}×" if ratio < 9.995 else f"{three_digits(ratio)}×"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A count and its noun: `1 node`, `2,340 nodes`, `−1 node`."""
    agrees = noun if abs(number) == 1 else plural or f"{noun}s"
    return f"{'−' if number < 0 else ''}{abs(number):,} {agrees}"
