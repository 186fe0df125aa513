"""What one asks a database of recordings, and the short answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from profiling.machine import Machine
from profiling.records.recording import Kind


@dataclass(frozen=True, slots=True)
class Filter:
    """Which recordings are wanted; what is empty does not filter.

    Attributes:
        kinds: any of these.
        model: display name.
        machine: as `hardware` names it.
        text: in title, model or machine, whatever its case.
        since: not begun before.
        until: begun before.
        bundle: name of the file it was read from.
        model_hash: of the source model.
    """

    kinds: tuple[Kind, ...] = ()
    model: str = ""
    machine: str = ""
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None
    bundle: str = ""
    model_hash: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """A recording without its measurements and payload.

    Attributes:
        variants: how many were measured.
        others: as in `Recording`.
    """

    id: int
    kind: Kind
    title: str
    model: str
    model_hash: str
    machine: Machine
    started_at: str
    seconds: float
    bundle: str
    passlens: str
    variants: int


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to filter by, sorted."""

    kinds: tuple[Kind, ...]
    models: tuple[str, ...]
    machines: tuple[str, ...]
    bundles: tuple[str, ...]
