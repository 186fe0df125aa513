"""Numbers in tables; how numbers are written at all is said in `optimizer.numbers`."""

from __future__ import annotations

from optimizer.numbers import (
    FLOP_MEANS,
    Unit,
    amount_text,
    bytes_text,
    counted,
    three_digits,
    times_text,
    unit_of,
)

__all__ = [
    "FLOP_MEANS",
    "Unit",
    "amount_text",
    "bytes_text",
    "counted",
    "digits",
    "mebibytes",
    "three_digits",
    "times_text",
    "unit_of",
]


def digits(number: float) -> float:
    """Four significant digits, as tables show them."""
    return float(f"{number:.4g}")


def mebibytes(size_bytes: float | None) -> float | None:
    """Bytes in MiB, as tables show them; None where none are known."""
    return None if size_bytes is None else digits(size_bytes / (1 << 20))
