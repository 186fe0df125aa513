"""The problem as data: what each choice costs by itself, and what differing choices cost.

A choice is a node, or several that must agree; one that is settled has a single candidate. A value
that several readers take in the same layout is converted to it once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Layout = str
"""The name of a layout, a word to this problem."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A value on its way.

    Attributes:
        source: the choice that makes it.
        readers: the choices that take it.
        costs: of converting it, by the layout that it has and the one that is asked for; none of
            what stays as it is.
    """

    source: int
    readers: tuple[int, ...]
    costs: Mapping[tuple[Layout, Layout], float]

    def converted(self, layouts: Sequence[Layout]) -> tuple[Layout, ...]:
        """The layouts to which it is converted, each once."""
        made = layouts[self.source]
        return tuple(dict.fromkeys(layouts[r] for r in self.readers if layouts[r] != made))

    def cost(self, layouts: Sequence[Layout]) -> float:
        """Of all its conversions."""
        made = layouts[self.source]
        return sum(self.costs[made, wanted] for wanted in self.converted(layouts))


@dataclass(frozen=True, slots=True)
class LayoutProblem:
    """Choices and what flows between them.

    Attributes:
        candidates: for each choice what it costs by itself, by layout; at least one.
        flows: the values between them.
    """

    candidates: tuple[Mapping[Layout, float], ...]
    flows: tuple[Flow, ...]

    def has_kernels(self, layouts: Sequence[Layout]) -> bool:
        """Whether each choice may be made so."""
        return all(one in costs for one, costs in zip(layouts, self.candidates, strict=True))

    def cost(self, layouts: Sequence[Layout]) -> float:
        """Of kernels and conversions, with a layout for each choice."""
        kernels = sum(costs[layout] for costs, layout in zip(self.candidates, layouts, strict=True))
        return kernels + sum(flow.cost(layouts) for flow in self.flows)


@dataclass(frozen=True, slots=True)
class LayoutAssignment:
    """A layout for each choice.

    Attributes:
        layouts: in the order of the choices.
        cost: of all.
        bound: nothing can cost less; the cost itself where it was proven least.
    """

    layouts: tuple[Layout, ...]
    cost: float
    bound: float

    @property
    def exact(self) -> bool:
        """Whether nothing costs less."""
        return self.bound >= self.cost

    @property
    def certificate(self) -> str:
        """`exact`, or how far at most it is from the best."""
        if self.exact:
            return "exact"
        return f"at most {(self.cost - self.bound) / self.cost:.1%} above the least possible"
