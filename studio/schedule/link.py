"""What the Schedule page is set to, and how a link says it.

loops=blur  order=tiled  primitives=eNq…  at=3    loops=node.n12: the region that this node is in
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from studio.link import Settings, matching, parameter, whole
from studio.schedule.draft import MOST_PRIMITIVES, Draft, Unreadable, packed, unpacked

SUBJECT = "blur"
REGION = "region."
"""What a subject begins with that is a region of the open model; the rest is its name."""
NODE = "node."
"""What a subject begins with that is the region of a node of the open model; the rest is the ids
of the node, or of those whose work it does."""
MOST_NODES = 8
END = MOST_PRIMITIVES
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,160}")
_NAME = re.compile(r"[\w ×,:.-]{1,80}")


@dataclass(frozen=True, slots=True)
class ScheduleChoice(Settings):
    """The settings.

    Attributes:
        subject: id of an example, or a region of the open model.
        order: name of one of the subject's schedules; empty for its last.
        draft: what was made of it; None where nothing was changed.
        step: after how many primitives the nest is shown, of those that are on.
    """

    subject: str = parameter("loops", SUBJECT, matching(_ID))
    order: str = parameter("order", "", matching(_NAME))
    draft: Draft | Unreadable | None = parameter("primitives", None, unpacked, packed)
    step: int = parameter("at", END, whole(0, END))

    def for_another_model(self) -> ScheduleChoice:
        """The same without a region of the model before."""
        return ScheduleChoice() if self.subject.startswith((REGION, NODE)) else self

    def opening(self, subject: str, order: str = "") -> ScheduleChoice:
        """Another subject, or another of its schedules, from its last step."""
        return ScheduleChoice(subject, order)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Ids of the nodes whose region it is; none where it is something else."""
        found = self.subject.removeprefix(NODE).split(".")
        return tuple(found[:MOST_NODES]) if self.subject.startswith(NODE) else ()

    def having(self, draft: Draft, step: int | None = None) -> ScheduleChoice:
        """An edit of what is shown."""
        return replace(self, draft=draft, step=END if step is None else min(max(0, step), END))


def about_nodes(nodes: Iterable[str]) -> str:
    """The subject that is the region of some nodes."""
    return NODE + ".".join([*nodes][:MOST_NODES])


SETTINGS = ScheduleChoice
