"""What the Memory page is set to, and how a link says it.

    memory=planners  planner=exact  order=list  share=views  align=256  search=5
    sizes=batch:4,sequence:128  extra=20  at=37  beside=no  graph=g2  event=40

The step of the trace and what it is compared with are the viewer's: `step`, `before`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Self

from studio.link import Settings, matching, one_of, parameter, whole

SECTIONS = ("map", "planners", "order", "recompute", "film")
SHARES = ("both", "views", "in-place", "none")
"""Who may share memory: views, in-place operators, both, nobody."""

ALIGNMENTS = (64, 256)
SECONDS = 1
MOST_SECONDS = 60
MOST_SIZES = 40
LARGEST_SIZE = 10_000_000
PLANNER = "best"
ORDER = "file"
EXTRA = 100
"""Percent of all FLOPs that recomputing may add."""

_ID = re.compile("[a-z][a-z0-9-]{0,40}")
_GRAPH = re.compile("g[0-9]{1,8}")


def _sizes(text: str) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for part in text.split(",")[:MOST_SIZES]:
        name, _, size = part.rpartition(":")
        if name and re.fullmatch("[0-9]{1,8}", size) and 1 <= int(size) <= LARGEST_SIZE:
            found[_unescaped(name)[:80]] = int(size)
    return tuple(sorted(found.items()))


def _sizes_text(sizes: tuple[tuple[str, int], ...]) -> str:
    return ",".join(f"{_escaped(name)}:{size}" for name, size in sizes)


def _escaped(name: str) -> str:
    """A name without the signs that part a link."""
    return name.replace("~", "~0").replace(",", "~1").replace(":", "~2")


def _unescaped(text: str) -> str:
    return text.replace("~2", ":").replace("~1", ",").replace("~0", "~")


@dataclass(frozen=True, slots=True)
class MemoryChoice(Settings):
    """What the Memory page is set to.

    Attributes:
        section: what is looked at.
        planner: id of the planner whose lanes are drawn.
        order: id of the method that orders the nodes.
        share: who may share memory.
        alignment: of every buffer, in bytes.
        seconds: that a search may take.
        sizes: of free dimensions, as they were bound; empty until then.
        extra: percent of all FLOPs that recomputing may add.
        moment: the step of the run whose contributors are listed; None for the peak.
        compared: whether the map stands beside that of another step.
        event: of the allocator, at which the film stands; None for the largest arena.
    """

    section: str = parameter("memory", SECTIONS[0], one_of(SECTIONS))
    planner: str = parameter("planner", PLANNER, matching(_ID))
    order: str = parameter("order", ORDER, matching(_ID))
    share: str = parameter("share", SHARES[0], one_of(SHARES))
    alignment: int = parameter("align", ALIGNMENTS[0], one_of(ALIGNMENTS))
    seconds: int = parameter("search", SECONDS, whole(SECONDS, MOST_SECONDS))
    sizes: tuple[tuple[str, int], ...] = parameter("sizes", (), _sizes, _sizes_text)
    extra: int = parameter("extra", EXTRA, whole(0, EXTRA))
    moment: int | None = parameter("at", None, whole(0, LARGEST_SIZE))
    compared: bool = parameter("beside", True, {"no": False}.get, lambda _: "no")
    graph: str = parameter("graph", "", matching(_GRAPH))
    event: int | None = parameter("event", None, whole(0, LARGEST_SIZE))

    @property
    def views(self) -> bool:
        """Whether views share memory."""
        return self.share in ("both", "views")

    @property
    def in_place(self) -> bool:
        """Whether operators may write in place."""
        return self.share in ("both", "in-place")

    def sharing(self, *, views: bool | None = None, in_place: bool | None = None) -> MemoryChoice:
        """The same with other switches; those not named stay."""
        on = {"views": self.views if views is None else views}
        on["in-place"] = self.in_place if in_place is None else in_place
        shared = [name for name, is_on in on.items() if is_on] or ["none"]
        share = "both" if len(shared) > 1 else shared[0]
        return replace(self, share=share, moment=None, event=None)

    def for_another_model(self) -> MemoryChoice:
        """The same without what belongs to one model."""
        return replace(self, sizes=(), moment=None, graph="", event=None)

    def for_another_trace(self) -> Self:
        """The same without the film of one graph."""
        return replace(self, event=None)

    for_another_step = for_another_trace


SETTINGS = MemoryChoice
