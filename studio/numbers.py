"""Numbers as people read them: three digits; bytes in KiB, MiB, GiB."""

from __future__ import annotations

from dataclasses import dataclass

_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def three_digits(number: float) -> str:
    """Three significant digits without an exponent: 0.0123, 4.56, 2,820."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def digits(number: float) -> float:
    """Four significant digits, as tables show them."""
    return float(f"{number:.4g}")


def mebibytes(size_bytes: float | None) -> float | None:
    """Bytes in MiB, as tables show them; None where none are known."""
    return None if size_bytes is None else digits(size_bytes / (1 << 20))


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of memory.

    Attributes:
        name: as it is written.
        size: in bytes.
    """

    name: str
    size: int

    def number(self, size_bytes: float) -> str:
        """Three digits."""
        return three_digits(size_bytes / self.size)

    def text(self, size_bytes: float) -> str:
        """Three digits and the unit."""
        return f"{self.number(size_bytes)} {self.name}"


def unit_of(size_bytes: float) -> Unit:
    """The unit in which so many bytes are easy to read."""
    return next((Unit(*unit) for unit in _UNITS if size_bytes >= unit[1]), Unit("B", 1))


def bytes_text(size_bytes: float) -> str:
    """Three digits in the unit that suits: "9.63 MiB"."""
    return unit_of(size_bytes).text(size_bytes)
