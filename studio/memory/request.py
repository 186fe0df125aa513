"""Which arena is looked at; plain data that travels to a worker and names files in the store."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.memory.arena import LifetimeOptions

Sizes = tuple[tuple[str, int], ...]
"""Free dimensions and their sizes, by name."""


@dataclass(frozen=True, slots=True)
class ArenaRequest:
    """One arena of an open run.

    Attributes:
        step: of the trace; 0 is the source.
        views: values that look at others share their memory.
        in_place: elementwise operators may write over what dies at them.
        alignment: in bytes.
        order: id of the method that orders the nodes; "file" leaves them as they are.
        sizes: of free dimensions; what is not among them stays unknown.
    """

    step: int
    views: bool = True
    in_place: bool = True
    alignment: int = 64
    order: str = "file"
    sizes: Sizes = ()

    @property
    def options(self) -> LifetimeOptions:
        """What may share memory."""
        return LifetimeOptions(views=self.views, in_place=self.in_place, alignment=self.alignment)
