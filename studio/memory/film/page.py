"""Film: the lazy allocator event by event, beside naive and the best plan, on one axis."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from studio.memory.film.job import FILM, KINDS, content_key, film_url
from studio.memory.link import MemoryChoice
from studio.memory.setting import Setting
from studio.memory.sidebar import change
from studio.page.computed import computed_artifact
from studio.page.figure import Table, show_twin
from studio.viewer import passlens_viewer
from studio.viewing import Descriptor, graph_address, open_groups, steps_address
from studio.workspace import current

KEY = "film-viewer"
_FREES = ("free", "merge")


def render_section(setting: Setting) -> None:
    """The film of the graph that the setting names."""
    found = computed_artifact(FILM, setting.subject, setting.request, "Filming the allocator")
    if found is not None:
        _show(setting, found)


def film_descriptor(setting: Setting, path: Path) -> Descriptor:
    """The viewer with one pane, the graph of a step, beside the film of its allocator."""
    workspace, (model, run) = current(), setting.subject
    return {
        "seq": workspace.seq,
        "mode": "film",
        "graph": graph_address(model),
        "steps": steps_address(model, run) if setting.request.step else None,
        "film": {
            "key": content_key(path),
            "url": film_url(setting.subject, setting.request, path),
        },
        "step": setting.request.step,
        "event": workspace.of(MemoryChoice).event,
        "select": [],
        "open": open_groups(workspace.view),
    }


def _show(setting: Setting, path: Path) -> None:
    @st.fragment
    def look() -> None:
        passlens_viewer(
            film_descriptor(setting, path),
            key=KEY,
            on_event=partial(_take_event, content_key(path)),
        )

    look()
    st.caption(
        "Activations only; buffers come and go in the order of the run, and one that ends where"
        " another starts gives its bytes to it. Lazy knows nothing of the future; best knows all"
        " lifetimes. The bound is the most that is alive at once."
    )
    show_twin("Every event as a table", film_table(path))


def _take_event(film: str) -> None:
    """The person has come to rest at an event; one of another film is out of date."""
    match st.session_state[KEY].get("event"):
        case {"film": str(key), "event": int(event)} if key == film and event >= 0:
            change(event=event)
        case _:
            pass


def film_table(path: Path) -> Table:
    """One row an event, in columns.

    Returns:
        event, node, operator, what, buffer, bytes, and where each planner puts them.
    """
    data: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    nodes, buffers, events, lanes = (data[key] for key in ("nodes", "buffers", "events", "lanes"))
    kinds: list[str] = [KINDS[kind] for kind in events["kind"]]
    which: list[int] = events["buffer"]
    steps = [
        buffers["end"][buffer] - 1 if kind in _FREES else buffers["start"][buffer]
        for kind, buffer in zip(kinds, which, strict=True)
    ]
    return {
        "event": list(range(1, len(kinds) + 1)),
        "node": [nodes[step][1] for step in steps],
        "operator": [nodes[step][2] for step in steps],
        "what": kinds,
        "buffer": [buffers["name"][buffer] for buffer in which],
        "bytes": [buffers["size"][buffer] for buffer in which],
        **{f"{lane['id']} at": [lane["offsets"][b] for b in which] for lane in lanes},
        "live bytes": events["used"],
        "arena bytes": events["peak"],
    }
