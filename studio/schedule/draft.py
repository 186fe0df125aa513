"""A schedule as somebody edits it, and as a link carries it."""

from __future__ import annotations

import base64
import binascii
import zlib
from dataclasses import dataclass

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.loops.schedule import Schedule

MOST_PRIMITIVES = 64
MOST_LINK = 4000
"""Characters of a schedule in a link; one that needs more is left out of it."""
_MOST_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Draft:
    """All primitives of a list.

    Attributes:
        schedule: those that are switched off, too.
        off: numbers of those.
    """

    schedule: Schedule
    off: tuple[int, ...] = ()

    @property
    def applied(self) -> Schedule:
        """Those that are on."""
        every = enumerate(self.schedule.primitives)
        return Schedule(tuple(one for number, one in every if number not in self.off))


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A link's schedule that cannot be read."""

    reason: str


DRAFT = Format(Draft, "passlens.schedule-draft/1", "list of primitives")


def checked(draft: Draft) -> Draft:
    """The draft, if it is short enough to be drawn; numbers that are switched off are in it.

    Raises:
        StudioError: it has too many primitives.
    """
    count = len(draft.schedule.primitives)
    if count > MOST_PRIMITIVES:
        raise StudioError(
            f"A schedule of {count} primitives is too long to be drawn (limit {MOST_PRIMITIVES})."
        )
    return Draft(draft.schedule, tuple(sorted({one for one in draft.off if 0 <= one < count})))


def packed(draft: Draft | Unreadable | None) -> str:
    """Text for a link; empty where it would be too long."""
    if not isinstance(draft, Draft):
        return ""
    text = base64.urlsafe_b64encode(zlib.compress(DRAFT.dumps(draft), 9)).decode().rstrip("=")
    return text if len(text) <= MOST_LINK else ""


def unpacked(text: str) -> Draft | Unreadable | None:
    """What `packed` wrote; None where there is nothing."""
    if not text:
        return None
    try:
        return checked(DRAFT.loads(_inflated(text)))
    except (StudioError, ValueError, binascii.Error, zlib.error):
        return Unreadable("The link's schedule cannot be read, so that this one is shown.")


def _inflated(text: str) -> bytes:
    """What was packed, and no more than a schedule needs.

    Raises:
        ValueError: it is too long, damaged, or goes on after its end.
    """
    if len(text) > MOST_LINK:
        raise ValueError("too long")
    stream = zlib.decompressobj()
    data = stream.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), _MOST_BYTES)
    if not stream.eof:
        raise ValueError("too long, or cut off")
    return data
