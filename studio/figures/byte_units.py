"""Bytes as people read them: KiB, MiB, GiB."""

from __future__ import annotations

from dataclasses import dataclass

from studio.figures.template import three_digits

_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


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
