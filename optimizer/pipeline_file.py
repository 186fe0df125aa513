"""A pipeline as a file: passes, options, vetoes and places, to keep and to share."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from optimizer.errors import StudioError, quoted
from optimizer.pipeline import Pipeline, preset_names

SCHEMA = "passlens.pipeline/1"
MOST_BYTES = 64 << 20
"""A pipeline may hold tables of ranges for every value of a model."""


_VETO = re.compile(r"[0-9a-f]{12}")
"""As `match_id` makes them."""


def pipeline_text(pipeline: Pipeline) -> str:
    """The pipeline as JSON, one line for each thing a person might change."""
    return json.dumps({"schema": SCHEMA, **pipeline.to_json()}, allow_nan=False, indent=1) + "\n"


def pipeline_from(text: str, *, name: str) -> Pipeline:
    """The pipeline that a text of `pipeline_text` says.

    Args:
        text: JSON.
        name: of its file, for messages.

    Raises:
        StudioError: it is no pipeline, or names a pass or an option that is not here.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StudioError(f"{quoted(name)} is no pipeline: it is not JSON ({error}).") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise StudioError(f"{quoted(name)} is no pipeline: its schema is not {SCHEMA}.")
    try:
        pipeline = Pipeline.from_json(cast("Mapping[str, object]", document))
    except StudioError as error:
        raise StudioError(f"Pipeline {quoted(name)}: {error.message}") from error
    except KeyError as missing:
        said = f"it has no {quoted(str(missing.args[0]))}"
        raise StudioError(f"{quoted(name)} is a damaged pipeline: {said}.") from missing
    except (TypeError, AttributeError, ValueError) as error:
        said = "its passes, options, vetoes or places are no such lists as --save-pipeline writes"
        raise StudioError(f"{quoted(name)} is a damaged pipeline: {said}.") from error
    _check(pipeline, name)
    return pipeline


def _check(pipeline: Pipeline, name: str) -> None:
    """Raise a StudioError where its preset, options or vetoes are none."""
    if pipeline.preset not in preset_names():
        raise StudioError(f"Pipeline {quoted(name)}: there is no preset {quoted(pipeline.preset)}.")
    for one in pipeline.passes:
        for option in fields(one):
            if not _fits(option.default, value := getattr(one, option.name)):
                raise StudioError(
                    f"Pipeline {quoted(name)}: option '{option.name}' of pass '{one.id}' takes"
                    f" {option.type}, not {quoted(str(value))}."
                )
    for veto in sorted(pipeline.vetoed):
        if not _VETO.fullmatch(veto):
            raise StudioError(
                f"Pipeline {quoted(name)}: {quoted(veto)} is no veto; a veto is the id of a"
                " rewrite, twelve digits as a trace has them."
            )


def read_pipeline(path: Path) -> Pipeline:
    """The pipeline in a file.

    Raises:
        StudioError: there is no such file, or it is no pipeline.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise StudioError(f"{quoted(path)} is too large for a pipeline (limit 64 MiB).")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudioError(f"The pipeline {quoted(path)} cannot be read: {error}.") from error
    return pipeline_from(text, name=path.name)


def write_pipeline(pipeline: Pipeline, path: Path) -> None:
    """Write what `read_pipeline` reads.

    Raises:
        StudioError: the file cannot be written.
    """
    try:
        path.write_text(pipeline_text(pipeline), encoding="utf-8")
    except OSError as error:
        raise StudioError(f"The pipeline {quoted(path)} cannot be written: {error}.") from error


def _fits(default: Any, value: object) -> bool:
    """Whether a value is of the kind that an option has."""
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, float | int)
    return isinstance(value, type(default) if not isinstance(default, tuple) else (list, tuple))
