"""Pipelines with options that no link can hold, such as tables of ranges: kept by what they say.

plans/<key>.json
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from optimizer.pipeline import Pipeline
from studio.artifacts.contents import KEY
from studio.artifacts.model_files import key_of
from studio.environment import cache_folder

PLANS = "plans"


def keep_plan(pipeline: Pipeline) -> str:
    """Write a pipeline; equal ones have equal keys."""
    document = pipeline.to_json()
    key = key_of(document)
    path = _path(key)
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(document))
        draft.replace(path)
    return key


def kept_plan(key: str) -> Pipeline | None:
    """The pipeline of that key; None where there is none, or the cache was cleared since."""
    path = _path(key)
    return _read(path) if KEY.fullmatch(key) and path.is_file() else None


@lru_cache(maxsize=8)
def _read(path: Path) -> Pipeline:
    return Pipeline.from_json(json.loads(path.read_text()))


def _path(key: str) -> Path:
    return cache_folder() / PLANS / f"{key}.json"
