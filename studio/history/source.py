"""Where listed recordings are: in the person's database, or in a bundle that comes along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from profiling.records import Listed, Recording
from studio.recordings.shipped import Shipped
from studio.services import records
from studio.workspace import current, remember


@dataclass(frozen=True, slots=True)
class Source:
    """What a table needs for the recordings that it lists.

    Attributes:
        load: a whole recording, by its id.
        open: makes it the one that is open.
        own: whether they are the person's, to be deleted.
    """

    load: Callable[[int], Recording]
    open: Callable[[int], None]
    own: bool


def own() -> Source:
    """The database."""
    return Source(records().load, lambda identity: open_place(record=identity), own=True)


def along(bundle: Shipped) -> Source:
    """A bundle that comes with Passlens."""
    return Source(
        lambda number: bundle.recordings[number - 1],
        lambda number: open_place(recorded=f"{bundle.name}:{number}"),
        own=False,
    )


def open_place(*, record: int | None = None, recorded: str = "") -> None:
    """What History shows from now on: a recording, a bundle, or with nothing the list."""
    remember(current().showing(record=record, recorded=recorded))


def listed(recordings: Sequence[Recording]) -> list[Listed]:
    """Rows of a table."""
    return [
        Listed(
            one.id, one.kind, one.title, one.model, one.model_hash, one.machine, one.started_at,
            one.seconds, "", one.passlens, len(one.measurements),
        )
        for one in recordings
    ]  # fmt: skip
