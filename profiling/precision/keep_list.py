"""Which nodes of a network stay float32 beside 16 bits, and how that was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.numbers import counted
from optimizer.precision.histogram import Histogram
from optimizer.precision.samples import Samples
from optimizer.verify import ErrorBudget


@dataclass(frozen=True, slots=True)
class Kept:
    """A node that stays float32.

    Attributes:
        id: of the node.
        name: its name in the model.
        reason: why it stays.
    """

    id: str
    name: str
    operator: str
    reason: str


@dataclass(frozen=True, slots=True)
class Trial:
    """The network with some nodes kept, run.

    Attributes:
        kept: how many.
        error: the worst output's largest difference, as a share of its scale; infinite where an
            output has other infinities, or does not come.
        sqnr_db: of the worst output over all samples.
        worst_db: of the worst output of one sample.
        within: the budget.
    """

    kept: int
    error: float
    sqnr_db: float
    worst_db: float
    within: bool


@dataclass(frozen=True, slots=True)
class KeepList:
    """What was found.

    Attributes:
        nodes: that stay float32 beside those that the pass leaves so itself.
        budget: what the outputs are held to.
        trials: in the order in which they were made.
        result: the trial with these nodes kept; None where nothing is in 16 bits.
        sixteen: nodes that compute in 16 bits.
        histograms: of the values of the network in float32, by name.
        irreducible: without any one of the nodes found by trial the outputs leave the budget; else
            there were not enough runs to tell.
        samples: what it was run on.
    """

    nodes: tuple[Kept, ...]
    budget: ErrorBudget
    trials: tuple[Trial, ...]
    result: Trial | None
    sixteen: int
    histograms: Mapping[str, Histogram]
    irreducible: bool
    samples: Samples

    @property
    def ids(self) -> tuple[str, ...]:
        """The pass's option `keep`."""
        return tuple(node.id for node in self.nodes)

    def __str__(self) -> str:
        """In one line."""
        if self.result is None:
            return "Nothing computes in 16 bits."
        result = self.result
        error = self.budget.over_all(
            scaled=result.error, sqnr_db=result.sqnr_db, worst_db=result.worst_db
        )
        return (
            f"{counted(len(self.nodes), 'node')} kept in float32,"
            f" {self.sixteen} in 16 bits: {error} (budget {self.budget}),"
            f" {counted(len(self.trials), 'run')} on {self.samples}."
        )
