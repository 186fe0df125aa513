"""Which range a value is given: methods that choose it from a histogram, in a registry.

What is outside the range saturates; the narrower it is, the finer its steps. Methods differ in what
they hold that to cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from optimizer.function_registry import FunctionRegistry, RegisteredFunction
from optimizer.precision.histogram import Histogram
from optimizer.precision.ranges import Range


@dataclass(frozen=True, slots=True)
class Integers:
    """The whole numbers that a range is divided into.

    Attributes:
        bits: of each.
        symmetric: as far below zero as above; else the range's own ends count, and zero is in it.
    """

    bits: int = 8
    symmetric: bool = False

    @property
    def steps(self) -> int:
        """From the low end of the range to the high one: 255, symmetric 254, in 8 bits."""
        return (1 << self.bits) - (2 if self.symmetric else 1)


MethodFunction = Callable[[Histogram, Integers], Range]
"""Asked only about histograms with a finite number."""


@dataclass(frozen=True, slots=True)
class Method(RegisteredFunction[MethodFunction]):
    """One way to choose a range."""


METHODS: FunctionRegistry[Method] = FunctionRegistry("optimizer.precision.thresholds", "method")
methods, find_method = METHODS.entries, METHODS.find


def method(method_id: str, title: str, *, order: int) -> Callable[[MethodFunction], MethodFunction]:
    """Enter a method."""

    def register(function: MethodFunction) -> MethodFunction:
        METHODS.enter(Method(method_id, title, function, order))
        return function

    return register


def ranges_of(
    histograms: Mapping[str, Histogram], method_id: str, integers: Integers
) -> dict[str, Range]:
    """A table of ranges by value; values without a finite number have none.

    Raises:
        StudioError: there is no such method.
    """
    choose = find_method(method_id).function
    return {
        name: choose(histogram, integers)
        for name, histogram in histograms.items()
        if histogram.range is not None
    }


def saturated(histogram: Histogram, threshold: float, integers: Integers) -> Range:
    """From −threshold to threshold; asymmetric, no farther than there are numbers."""
    threshold = min(threshold, histogram.magnitude)
    if integers.symmetric:
        return Range(-threshold, threshold)
    low, high = max(histogram.low, -threshold), min(histogram.high, threshold)
    return Range(min(low, high), max(low, high))
