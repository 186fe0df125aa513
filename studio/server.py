"""HTTP beside Streamlit: what the viewer draws by content key, its files, start and stop."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from optimizer.errors import StudioError
from optimizer.pipeline_file import pipeline_text
from profiling.workers import default_pool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.preview import PREVIEW_FORM
from studio.environment import FIRST_MODEL
from studio.first_picture import ended, first_picture_routes
from studio.gallery import gallery
from studio.memory.film.job import film_file
from studio.opening import ask_ahead, forget_preview, model_task, preview_task, run_task, soon_task
from studio.overlays import numbers_file
from studio.recordings.shipped import shipped
from studio.services import store
from studio.viewer import asset_routes
from studio.workspace import Workspace, from_query

PATIENCE_S = 120
_KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}
_FOREVER = {"Content-Encoding": "gzip", **_KEPT}


async def graph(request: Request) -> Response:
    """The drawing of a model."""
    return _gzipped(store().file(request.path_params["model"]))


async def steps(request: Request) -> Response:
    """The steps of one run over a model."""
    return _gzipped(store().file(request.path_params["model"], request.path_params["run"]))


async def overlay(request: Request) -> Response:
    """Numbers of a run's nodes, for the viewer's colours."""
    place = request.path_params
    name = (place["overlay"], place["key"])
    return _gzipped(numbers_file(store(), place["model"], place["run"], name))


async def film(request: Request) -> Response:
    """The events of an allocator over one step's graph, and where others put the same buffers."""
    place = request.path_params
    path = film_file(store(), place["model"], place["run"], place["request"], place["key"])
    return _gzipped(path)


async def what_if(request: Request) -> Response:
    """What the passes would do at a step, as far as can be said soon or all; a worker finds out."""
    place = request.path_params
    subject = _asked(place)
    if subject is None:
        return _gzipped(None)
    asked = preview_task if "all" in request.query_params else soon_task
    task = asked(*subject, place["step"])
    await ended(task, PATIENCE_S)
    if task.done:
        forget_preview(*subject, place["step"])
    if task.result is None:
        text = task.error.message if task.error is not None else "Not done yet; ask again."
        return PlainTextResponse(text, status_code=503)
    kept = {"Cache-Control": "no-store"} if task.result.unasked else _KEPT
    return JSONResponse(PREVIEW_FORM.to_json(task.result), headers=kept)


async def what_if_ahead(request: Request) -> Response:
    """Somebody rests at a step, and may ask about it next."""
    subject = _asked(request.path_params)
    if subject is not None:
        ask_ahead(*subject, request.path_params["step"])
    return Response(status_code=204)


def _asked(place: Mapping[str, Any]) -> tuple[OpenedModel, OpenedRun] | None:
    """Whose step is asked about; None without such a step."""
    model = store().model(place["model"])
    run = store().known_run(model, place["run"]) if model is not None else None
    if model is None or run is None or place["step"] > run.result.steps:
        return None
    return model, run


async def pipeline(request: Request) -> Response:
    """The pipeline that a permalink describes, as a file."""
    try:
        text = pipeline_text(from_query(dict(request.query_params)).pipeline())
    except StudioError as error:
        return PlainTextResponse(error.message, status_code=404)
    return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})


async def health(_: Request) -> Response:
    """For load balancers: the server answers."""
    return PlainTextResponse("ok")


def _gzipped(path: Path | None) -> Response:
    if path is None:
        return PlainTextResponse("There is nothing under this key.", status_code=404)
    return Response(path.read_bytes(), media_type="application/json", headers=_FOREVER)


def routes() -> list[BaseRoute]:
    """Every route of our own."""
    return [
        Route("/api/graph/{model}.json", graph),
        Route("/api/steps/{model}/{run}.json", steps),
        Route("/api/overlays/{model}/{run}/{overlay}/{key}.json", overlay),
        Route("/api/film/{model}/{run}/{request}/{key}.json", film),
        Route("/api/pipeline.json", pipeline),
        Route("/api/what-if/{model}/{run}/{step:int}.json", what_if),
        Route("/api/what-if/{model}/{run}/{step:int}/ahead", what_if_ahead, methods=["POST"]),
        Route("/api/health", health),
        *asset_routes(),
        *first_picture_routes(),
    ]


@asynccontextmanager
async def lifespan(_: object) -> AsyncGenerator[None]:
    """Start the workers before the first visitor waits for them; stop them at the end."""
    threading.Thread(target=_prepare, daemon=True, name="prepare").start()
    yield
    default_pool().close()


def _prepare() -> None:
    """Start the workers; open the model that is about to be asked for; read what comes along."""
    default_pool().warm()
    first = os.environ.get(FIRST_MODEL)
    workspace = Workspace(model=first or gallery.SAMPLE)
    opening = model_task(workspace) if first else None
    workspace.pipeline()  # imports every pass, while a worker opens the model
    if opening is not None and opening.wait(PATIENCE_S) and opening.result is not None:
        run_task(workspace, opening.result)
    shipped()
