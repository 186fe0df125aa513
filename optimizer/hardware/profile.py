"""A hardware profile: the operators of a device, and what it asks of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

Plain = int | float | str
"""What an attribute, or one element of it, may be compared with."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What an attribute may be: element by element, where it is a list.

    Attributes:
        allowed: the values there are; None for any.
        low: the smallest number.
        high: the largest number.
    """

    allowed: tuple[Plain, ...] | None = None
    low: float = float("-inf")
    high: float = float("inf")

    def admits(self, value: object) -> bool:
        """Whether the device takes this value."""
        if isinstance(value, list | tuple):
            return all(self.admits(one) for one in cast("list[object]", value))
        if self.allowed is not None and value not in self.allowed:
            return False
        return not isinstance(value, int | float) or self.low <= value <= self.high

    def __str__(self) -> str:
        if self.allowed is not None:
            return " or ".join(str(value) for value in self.allowed)
        ends = ("at least", self.low), ("at most", self.high)
        return " and ".join(f"{word} {end:g}" for word, end in ends if abs(end) != float("inf"))


@dataclass(frozen=True, slots=True)
class Support:
    """One way in which a device has an operator.

    Attributes:
        types: element types of the first output, by ONNX's names (`float`, `int64`); empty for any.
        ranks: smallest and largest rank of the first input; None for any.
        attributes: what attributes may be, by name.
        layouts: orders of the axes that its kernels read and write; empty for the operator's own.
    """

    types: frozenset[str] = frozenset()
    ranks: tuple[int, int] | None = None
    attributes: Mapping[str, Bound] = field(default_factory=dict[str, Bound])
    layouts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HardwareProfile:
    """What a device has.

    Attributes:
        name: of the shipped profile, or of the user's file.
        title: for people.
        source: where this is known from.
        opset: newest version of ONNX's operators it takes; 0 for any.
        everything: whether it has all operators of ONNX up to `opset`.
        operators: ways in which it has each, by type; `domain::Type` outside ONNX's own.
    """

    name: str
    title: str
    source: str = ""
    opset: int = 0
    everything: bool = False
    operators: Mapping[str, tuple[Support, ...]] = field(
        default_factory=dict[str, tuple[Support, ...]]
    )

    @property
    def layout(self) -> str:
        """The first layout besides NCHW that an operator names; NCHW where none does."""
        named = (one for ways in self.operators.values() for way in ways for one in way.layouts)
        return next((one for one in named if one != "NCHW"), "NCHW")

    def has(self, operator: str) -> bool:
        """Whether it has the operator in some way."""
        return operator in self.operators or (self.everything and "::" not in operator)
