"""HTTP beside Streamlit: what the viewer draws by content key, its files, start and stop."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from profiling.workers import default_pool
from studio.environment import FIRST_MODEL
from studio.first_picture import first_picture_routes
from studio.gallery import gallery
from studio.memory.film.job import film_file
from studio.opening import model_task, run_task
from studio.overlays import numbers_file
from studio.recordings.shipped import shipped
from studio.services import store
from studio.viewer import asset_routes
from studio.workspace import Workspace

PATIENCE_S = 120
_FOREVER = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable"}


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
