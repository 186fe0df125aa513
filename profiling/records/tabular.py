"""Recordings for other programs: flat rows, CSV, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

from profiling.config.question import question_of_options
from profiling.records.recording import Recording
from profiling.records.recording_json import recording_to_json

SCHEMA = "passlens.recordings/1"
_ASKED = ("race", "sweep", "worth")
"""Kinds that ask what is gained deployed, or bare."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for the beginning of a formula."""


def measurement_rows(recordings: Iterable[Recording]) -> list[dict[str, Any]]:
    """A row a measurement, with the recording it belongs to."""
    return [
        {
            "recording": recording.id,
            **_picked(recording, "kind", "title", "model", "model_hash", "started_at"),
            **_picked(recording.machine, "cpu", "cores", "gpu", "runtime"),
            "bundle": recording.bundle,
            "variant": measured.label,
            **_picked(measured, "workload", "step"),
            "as": question_of_options(measured.options) if recording.kind in _ASKED else None,
            "options": " ".join(f"{k}={v}" for k, v in sorted(measured.options.items())),
            **_picked(measured, "p50_ms", "p95_ms", "min_ms", "first_ms", "create_ms", "runs"),
            "peak_bytes": measured.peak_bytes or None,
            **_picked(measured, "error", "verdict"),
        }
        for recording in recordings
        for measured in recording.measurements
    ]


def _picked(found: object, *names: str) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names}


def recordings_csv(recordings: Iterable[Recording]) -> str:
    """A line a measurement; empty where nothing was measured."""
    rows = measurement_rows(recordings)
    if not rows:
        return ""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return file.getvalue()


def recordings_json(recordings: Iterable[Recording]) -> str:
    """Everything, payloads included."""
    listed = [
        {"id": recording.id, "bundle": recording.bundle, **recording_to_json(recording)}
        for recording in recordings
    ]
    document = {"schema": SCHEMA, "recordings": listed}
    return json.dumps(document, allow_nan=False, indent=1) + "\n"


def _cell(value: object) -> object:
    """Text that a spreadsheet would compute gets an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
