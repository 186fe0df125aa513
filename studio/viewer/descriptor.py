"""The shapes of what goes to the viewer and of what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

Before = Literal["source", "previous"]


class Source(TypedDict):
    """Something the browser fetches: its content key and its address."""

    key: str
    url: str


class Busy(TypedDict):
    """Work in progress, shown over the graph; a fraction of None means: unknown."""

    text: str
    fraction: float | None
    cancel: bool


class Message(TypedDict):
    """A quiet note, or an error, shown over the graph."""

    kind: Literal["error", "note"]
    text: str


class Versus(TypedDict):
    """The pipeline whose result is shown beside; `steps` are None while they are being made."""

    id: str
    name: str
    steps: Source | None


class PipelineState(TypedDict):
    """Which passes are on. A veto is a record with `match`, and where known `rule`, `root`."""

    name: str
    preset: str
    presets: list[str]
    enabled: list[str]
    vetoed: list[dict[str, str]]


class ViewerData(TypedDict):
    """What a page hands to the viewer. A new `seq` imposes step, before, select and open."""

    seq: int
    mode: Literal["model", "rewrite", "film"]
    graph: Source | None
    steps: NotRequired[Source | None]
    overlays: NotRequired[Mapping[str, Source]]
    film: NotRequired[Source | None]
    busy: NotRequired[Busy | None]
    message: NotRequired[Message | None]
    step: NotRequired[int | None]
    event: NotRequired[int | None]
    before: NotRequired[Before]
    select: NotRequired[list[str]]
    open: NotRequired[list[str] | None]
    pipeline: NotRequired[PipelineState]
    versus: NotRequired[Versus | None]
    passes: NotRequired[list[dict[str, Any]]]
    limits: NotRequired[Mapping[str, Any]]


class ViewState(TypedDict):
    """Where the user looks; sent once they have rested a second, never on load."""

    seq: int
    step: int
    before: Before
    select: list[str]
    open: list[str] | None
