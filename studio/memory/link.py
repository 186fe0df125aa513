"""What the Memory page is set to, and how a link says it.

    memory=planners  planner=exact  order=list  share=views  align=256  search=5
    sizes=batch:4,sequence:128  extra=20  at=37  beside=no  graph=g2  event=40

The step of the trace and what it is compared with are the viewer's: `step`, `before`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, slots=True)
class MemoryChoice:
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
        event: of the allocator, at which the film stands; None for the largest arena.
    """

    section: str = SECTIONS[0]
    planner: str = PLANNER
    order: str = ORDER
    share: str = SHARES[0]
    alignment: int = ALIGNMENTS[0]
    seconds: int = SECONDS
    sizes: tuple[tuple[str, int], ...] = ()
    extra: int = EXTRA
    moment: int | None = None
    beside: bool = True
    graph: str = ""
    event: int | None = None

    @property
    def views(self) -> bool:
        """Whether views share memory."""
        return self.share in ("both", "views")

    @property
    def in_place(self) -> bool:
        """Whether operators may write in place."""
        return self.share in ("both", "in-place")

    def sharing(self, *, views: bool, in_place: bool) -> MemoryChoice:
        """The same with other switches."""
        share = {(True, True): "both", (True, False): "views", (False, True): "in-place"}
        shared = share.get((views, in_place), "none")
        return replace(self, share=shared, moment=None, event=None)

    def for_another_model(self) -> MemoryChoice:
        """The same without what belongs to one model."""
        return replace(self, sizes=(), moment=None, graph="", event=None)


def to_link(choice: MemoryChoice) -> dict[str, str]:
    """The parameters of a link; defaults are empty."""
    texts, usual = _texts(choice), _texts(MemoryChoice())
    sizes = ",".join(f"{_escaped(name)}:{size}" for name, size in choice.sizes)
    return {
        **{name: text if text != usual[name] else "" for name, text in texts.items()},
        "sizes": sizes,
        "at": str(choice.moment) if choice.moment is not None else "",
        "beside": "" if choice.beside else "no",
        "graph": choice.graph,
        "event": str(choice.event) if choice.event is not None else "",
    }


def _texts(choice: MemoryChoice) -> dict[str, str]:
    return {
        "memory": choice.section,
        "planner": choice.planner,
        "order": choice.order,
        "share": choice.share,
        "align": str(choice.alignment),
        "search": str(choice.seconds),
        "extra": str(choice.extra),
    }


def from_link(query: Mapping[str, str]) -> MemoryChoice:
    """What a link says; what makes no sense in it is passed over."""
    section, share = query.get("memory", ""), query.get("share", "")
    alignment = _number(query.get("align", ""), 1 << 12)
    moment, graph = query.get("at", ""), query.get("graph", "")
    return MemoryChoice(
        section=section if section in SECTIONS else SECTIONS[0],
        planner=_known_id(query.get("planner", ""), PLANNER),
        order=_known_id(query.get("order", ""), ORDER),
        share=share if share in SHARES else SHARES[0],
        alignment=alignment if alignment in ALIGNMENTS else ALIGNMENTS[0],
        seconds=_number(query.get("search", ""), MOST_SECONDS) or SECONDS,
        sizes=_sizes(query.get("sizes", "")),
        extra=EXTRA if (extra := _number(query.get("extra", ""), EXTRA)) is None else extra,
        moment=_number(moment, LARGEST_SIZE),
        beside=query.get("beside") != "no",
        graph=graph if _GRAPH.fullmatch(graph) else "",
        event=_number(query.get("event", ""), LARGEST_SIZE),
    )


def _known_id(text: str, otherwise: str) -> str:
    return text if _ID.fullmatch(text) else otherwise


def _number(text: str, most: int) -> int | None:
    return min(most, int(text)) if re.fullmatch("[0-9]{1,8}", text) else None


def _sizes(text: str) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for part in text.split(",")[:MOST_SIZES]:
        name, _, size = part.rpartition(":")
        if name and re.fullmatch("[0-9]{1,8}", size) and 1 <= int(size) <= LARGEST_SIZE:
            found[_unescaped(name)[:80]] = int(size)
    return tuple(sorted(found.items()))


def _escaped(name: str) -> str:
    """A name without the signs that part a link."""
    return name.replace("~", "~0").replace(",", "~1").replace(":", "~2")


def _unescaped(text: str) -> str:
    return text.replace("~2", ":").replace("~1", ",").replace("~0", "~")
