"""The source of a trace: a model opened, its dimensions bound, its shapes inferred.

This is step 0. Everything downstream, verification included, starts from exactly this graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from optimizer.collection import collection_paused
from optimizer.isolation import Isolate
from optimizer.limits import Limits
from optimizer.model.binding import bind_dimensions
from optimizer.model.graph import Model
from optimizer.model.loader import load_bytes, load_path
from optimizer.model.shapes import infer_shapes


def open_source(
    path: Path,
    *,
    isolate: Isolate,
    bind: Mapping[str, int] | None = None,
    limits: Limits = Limits(),
) -> Model:
    """Open a model file on this machine.

    Raises:
        StudioError: it cannot be opened, or a bound dimension does not exist.
    """
    return complete(load_path(path, limits=limits), isolate=isolate, bind=bind)


def open_upload(
    data: bytes,
    *,
    name: str,
    companions: Mapping[str, bytes | Path],
    isolate: Isolate,
    limits: Limits = Limits(),
) -> Model:
    """Open an uploaded model with the files that came along.

    Raises:
        StudioError: it cannot be opened.
    """
    return complete(
        load_bytes(data, name=name, companions=companions, limits=limits), isolate=isolate
    )


def complete(model: Model, *, isolate: Isolate, bind: Mapping[str, int] | None = None) -> Model:
    """Bind dimensions and infer shapes of a model just loaded."""
    if not model.statuses.optimizable.ok:
        return model
    if bind:
        bind_dimensions(model.ir, bind)
    with collection_paused():
        found = infer_shapes(model, isolate=isolate)
    return replace(model, findings=(*model.findings, *found))
