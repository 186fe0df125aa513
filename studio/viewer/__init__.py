"""The graph workbench: one Streamlit component that owns panes, passes, step card and scrubber.

Streamlit carries a descriptor of about one kilobyte; the browser fetches graph and trace itself.
The code is plain ES modules, served under `/viewer/<content hash>/` and cached for good.

Usage, in `app.py`:

    app = st.App("main.py", routes=[*asset_routes(), ...])

and in a page:

    state = passlens_viewer({"seq": 1, "mode": "model", "graph": {...}}, key="viewer")
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, cast

import streamlit as st
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

ASSETS = Path(__file__).parent / "assets"
PREFIX = "/viewer"
IMMUTABLE = "public, max-age=31536000, immutable"

JSONDict = dict[str, Any]


class Source(TypedDict):
    """Something the browser fetches: its content key and its address."""

    key: str
    url: str


class Busy(TypedDict):
    """Work in progress, shown over the graph."""

    text: str
    fraction: float | None
    cancel: bool


class Message(TypedDict):
    """A quiet note, or an error, shown over the graph."""

    kind: Literal["error", "note"]
    text: str


class Veto(TypedDict):
    """One rewrite the user does not want."""

    match: str
    # "pass" is a Python keyword, hence the functional form is avoided by `pass_` elsewhere.
    rule: str
    root: str


class PipelineState(TypedDict):
    """Which passes are on, and which single rewrites are off."""

    preset: str
    presets: list[str]
    enabled: list[str]
    vetoed: list[JSONDict]


class ViewerData(TypedDict):
    """What a page hands to the viewer. A new `seq` imposes step, before, select and open."""

    seq: int
    mode: Literal["model", "rewrite"]
    graph: Source | None
    steps: NotRequired[Source | None]
    busy: NotRequired[Busy | None]
    message: NotRequired[Message | None]
    step: NotRequired[int | None]
    before: NotRequired[Literal["source", "previous"]]
    select: NotRequired[list[str]]
    open: NotRequired[list[str] | None]
    pipeline: NotRequired[PipelineState]
    passes: NotRequired[list[JSONDict]]
    limits: NotRequired[Mapping[str, Any]]


class ViewState(TypedDict):
    """Where the user looks; sent once they have rested a second, never on load."""

    seq: int
    step: int
    before: Literal["source", "previous"]
    select: list[str]
    open: list[str]
