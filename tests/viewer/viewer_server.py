"""A tiny static server that gives the harness page, the assets and the fixtures to a browser."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from viewer_films import film
from viewer_fixtures import cnn, folding, hostile, transformer, wide
from viewer_maker import pass_records

from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.registry import PRESETS
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from studio.gallery import gallery
from studio.graphview.graph_file import graph_json, groups_of
from studio.graphview.steps_file import steps_json

HERE = Path(__file__).parent
ASSETS = HERE.parents[1] / "studio" / "viewer" / "assets"
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
}

Json = dict[str, Any]


def optimized(
    network: str, preset: str, *, off: Iterable[str] = (), vetoed: Iterable[str] = ()
) -> tuple[Json, Json]:
    """A sample network and what a preset makes of it, as the studio writes them down.

    Args:
        network: the sample's id.
        preset: of passes.
        off: those that are switched off.
        vetoed: ids of matches that must not be applied.
    """
    model = load_path(gallery.open_path(network))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    pipeline = Pipeline.of(preset, disable=off, vetoed=vetoed)
    cursor = Cursor.at_end(optimize(model, pipeline))
    cursor.seek(0)
    groups = groups_of(model.ir.graph)
    graph = graph_json(model.ir.graph, key=network, name=network, groups=groups)
    return graph, steps_json(cursor, key=f"{network}-{preset}", graph_key=network, groups=groups)


MAKERS: dict[str, Callable[[], tuple[Json, Json]]] = {
    "cnn4": lambda: cnn(4),
    "cnn8": lambda: cnn(8),
    "cnn8-plain": lambda: cnn(8, relu_fused=False),
    "cnn8-bare": lambda: cnn(8, norm_fused=False, relu_fused=False),
    "cnn16": lambda: cnn(16),
    "transformer2": lambda: transformer(2),
    "transformer12": lambda: transformer(12),
    "transformer40": lambda: transformer(40),
    "transformer160": lambda: transformer(160),
    "folding": folding,
    "hostile": hostile,
    **{f"tour-{preset}": partial(optimized, "tour", preset) for preset in [*PRESETS, "none"]},
    "wide": wide,
}
_made: dict[str, tuple[Json, Json]] = {}


def fixture(name: str) -> tuple[Json, Json]:
    """Graph and steps of a fixture, made once."""
    if name not in _made:
        _made[name] = MAKERS[name]()
    return _made[name]


def serve(name: str, graph: Json, steps: Json) -> None:
    """Add a fixture made elsewhere."""
    _made[name] = (graph, steps)


def descriptor(name: str) -> Json:
    """What Streamlit would send for a fixture."""
    graph, steps = fixture(name)
    enabled = [p["id"] for p in pass_records() if p["enabled"]]
    return {
        "seq": 1,
        "mode": "rewrite",
        "step": 0,
        "before": "source",
        "select": [],
        "open": None,
        "busy": None,
        "graph": {"key": graph["key"], "url": f"/graph/{name}.json"},
        "message": None,
        "steps": {"key": steps["key"], "url": f"/steps/{name}.json"},
        "passes": steps["passes"],
        "pipeline": {
            "preset": "portable",
            "presets": [*PRESETS, "none"],
            "enabled": enabled,
            "vetoed": [],
        },
    }


def times(name: str) -> Json:
    """Node times of a fixture: 1 ms for each node of the source; the last step's, 5 µs for all."""
    graph, steps = fixture(name)
    gone = {node for step in steps["steps"] for node in step["removed"]}
    source = [node["id"] for node in graph["nodes"]]
    last = [i for i in [*source, *(n["id"] for n in steps["nodes"])] if i not in gone]
    return {
        "schema": "passlens.times/1",
        "profiles": [
            {"step": 0, "label": "source", "kernels": [[2000, 1000, "Op", [i]] for i in source]},
            {"step": len(steps["steps"]), "label": "last", "kernels": [[10, 5, "All", last]]},
        ],
    }


def body(path: str) -> tuple[str, bytes] | None:
    """Content type and bytes of an address."""
    parts = path.strip("/").split("/")
    if path == "/":
        return TYPES[".html"], (HERE / "harness.html").read_bytes()
    if parts[0] == "viewer":
        file = ASSETS.joinpath(*parts[2:])
        return (TYPES[file.suffix], file.read_bytes()) if file.is_file() else None
    name = parts[-1].removesuffix(".json")
    if name not in MAKERS and name not in _made:
        return None
    pick = {
        "descriptor": lambda: descriptor(name),
        "graph": lambda: fixture(name)[0],
        "steps": lambda: fixture(name)[1],
        "times": lambda: times(name),
        "film": lambda: film(fixture(name)[0]),
    }
    return (TYPES[".json"], json.dumps(pick[parts[0]]()).encode()) if parts[0] in pick else None


class Handler(BaseHTTPRequestHandler):
    """Serves `body`."""

    def do_GET(self) -> None:
        """Answer one request."""
        found = body(self.path.split("?")[0])
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", found[0] if found else "text/plain")
        if self.path.startswith("/viewer/"):
            self.send_header("Cache-Control", "max-age=3600, immutable")  # 104 modules a page
        self.end_headers()
        if found:
            self.wfile.write(found[1])

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


@contextmanager
def serving() -> Generator[str]:
    """Run the server on a free port; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
