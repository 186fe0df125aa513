"""The events of a film as a table."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from studio.memory.film.job import KINDS

Table = dict[str, list[Any]]
_FREES = ("free", "merge")


@lru_cache(maxsize=8)
def film_table(path: Path) -> Table:
    """One row an event, in columns; a film's file never changes.

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
