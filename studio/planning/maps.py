"""Maps of an open run, as tasks: found in the store, or made by a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from optimizer.isolation import Isolate, Progress
from studio.planning import jobs
from studio.planning.arena_map import ArenaMap, from_json
from studio.planning.kept import folder_of, make
from studio.store import OpenedModel, OpenedRun


def maps_key(
    model: OpenedModel, run: OpenedRun, wanted: Sequence[jobs.MapRequest]
) -> tuple[object, ...]:
    """Equal maps have equal keys."""
    return ("memory-maps", model.key, run.key, tuple(wanted))


def run_maps(
    isolate: Isolate,
    subject: tuple[OpenedModel, OpenedRun],
    wanted: Sequence[jobs.MapRequest],
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> tuple[ArenaMap, ...]:
    """The map of every request.

    Raises:
        StudioError: a planner or an order does not exist, the worker died, or it was cancelled.
    """
    distinct = {request: _folder(subject[1], request) for request in wanted}
    make(
        isolate,
        subject,
        jobs.plan_maps,
        list(distinct.items()),
        progress=progress,
        cancelled=cancelled,
    )
    return tuple(_read(distinct[request] / jobs.MAP) for request in wanted)


def known_maps(run: OpenedRun, wanted: Sequence[jobs.MapRequest]) -> tuple[ArenaMap, ...] | None:
    """The maps, if all of them are in the store."""
    folders = [_folder(run, request) for request in wanted]
    if not all(folder.is_dir() for folder in folders):
        return None
    return tuple(_read(folder / jobs.MAP) for folder in folders)


def _folder(run: OpenedRun, request: jobs.MapRequest) -> Path:
    return folder_of(run, "map", request)


@lru_cache(maxsize=64)
def _read(path: Path) -> ArenaMap:
    """A folder never changes, so what was read stays true."""
    return from_json(jobs.read_json(path))
