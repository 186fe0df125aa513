"""The regions that a network's generated kernels stand for: their kind, their number of places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from optimizer.operators.generated import GENERATED, region_title
from optimizer.rewrite.edits import InsertNode
from optimizer.rewrite.trace import Trace

Kind = Literal["fusion", "better kernel"]
"""Several launches of the runtime as one, or one whose own kernel is slow."""
KINDS: tuple[Kind, ...] = ("better kernel", "fusion")

_BETTER = "Better kernel"


@dataclass(frozen=True, slots=True)
class KernelRegion:
    """A generated kernel of a network.

    Attributes:
        name: of its function.
        kind: what is gained by it.
        places: in how many it is called.
        reason: what it gains on paper.
    """

    name: str
    kind: Kind
    places: int
    reason: str

    @property
    def title(self) -> str:
        """What it computes, and where that is several times."""
        return region_title(self.name) + (f", {self.places} times" if self.places > 1 else "")


def regions_of(trace: Trace) -> tuple[KernelRegion, ...]:
    """The generated kernels that a trace leads to, in the order of their first places."""
    reasons: dict[str, list[str]] = {}
    for rewrite in trace.rewrites:
        for edit in rewrite.edits:
            if isinstance(edit, InsertNode) and edit.domain == GENERATED:
                reasons.setdefault(edit.op_type, []).append(rewrite.reason)
    return tuple(
        KernelRegion(
            name,
            "better kernel" if told[0].startswith(_BETTER) else "fusion",
            len(told),
            told[0],
        )
        for name, told in reasons.items()
    )
