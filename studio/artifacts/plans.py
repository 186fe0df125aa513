"""Pipelines with options that no link can hold, such as tables of ranges: kept by what they say.

plans/<key>/plan.json
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline
from profiling.cache.atomic_folder import mark_used, obtain
from profiling.cache.folder import cache_folder
from studio.artifacts.contents import KEY, PLANS, pin
from studio.artifacts.model_files import key_of
from studio.artifacts.opened import Pin

_FILE = "plan.json"
_MOST_TITLE = 60
_UNUSUAL = re.compile(r"[^\w .,%()/-]+")


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A pipeline that is found by its key.

    Attributes:
        title: for people; of harmless characters alone.
    """

    title: str
    pipeline: Pipeline


def keep_plan(pipeline: Pipeline, *, title: str = "plan") -> str:
    """Write a pipeline; equal ones of one title have equal keys."""
    shown = " ".join(_UNUSUAL.sub(" ", title).split())[:_MOST_TITLE]
    document = {"title": shown, "pipeline": pipeline.to_json()}
    key = key_of(document)
    obtain(_folder(key), lambda draft: _write(draft / _FILE, document))
    return key


def kept_plan(key: str) -> KeptPlan:
    """The pipeline of that key.

    Raises:
        StudioError: there is none, or the cache was cleared since; or a pass of it is no more.
    """
    path = _folder(key) / _FILE
    if KEY.fullmatch(key) and path.is_file():
        with suppress(OSError, ValueError):  # removed at this very moment, or damaged
            return _read(path)
    raise StudioError(
        "The plan of this link is not on this server any more, so no pass was run. Choose a preset"
        " in Rewrite, or make the plan again: on Precision or Layout, by an order or from a file."
    )


def hold_plan(key: str) -> Pin | None:
    """Keep a plan in the cache as long as what is returned is held; None where it is not there."""
    folder = _folder(key)
    if not KEY.fullmatch(key) or not folder.is_dir():
        return None
    lock = pin(folder)
    mark_used(folder)
    return None if lock is None else Pin(lock)


def _write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document))


@lru_cache(maxsize=8)
def _read(path: Path) -> KeptPlan:
    document = json.loads(path.read_text())
    return KeptPlan(document["title"], Pipeline.from_json(document["pipeline"]))


def _folder(key: str) -> Path:
    return cache_folder() / PLANS / key
