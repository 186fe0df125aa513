"""Recordings as JSON, lossless; what comes from elsewhere is checked field by field."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, cast, get_args

from optimizer.errors import quoted
from optimizer.versions import passlens_version
from profiling.config import Value
from profiling.machine import Machine
from profiling.records.errors import BundleRefused, RecordsError
from profiling.records.recording import Kind, Measurement, Recording, started

SCHEMA = "passlens.recording/1"
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_TEXT = 4096
"""Characters of one text field."""

MOST_MEASUREMENTS = 10_000
_LARGEST = 2**63 - 1


def recording_to_json(recording: Recording) -> dict[str, Any]:
    """Everything but the id and the bundle's name, which belong to a database."""
    # The payload may be large: it is not copied piece by piece.
    document = {"schema": SCHEMA, **asdict(replace(recording, payload={}))}
    del document["id"], document["bundle"]
    document["measurements"] = [asdict(measured) for measured in recording.measurements]
    document["payload"] = dict(recording.payload)
    return document


def dumps(document: object) -> bytes:
    """Equal documents, equal bytes.

    Raises:
        RecordsError: it holds something that is no JSON, or a number that is not finite.
    """
    try:
        text = json.dumps(document, allow_nan=False, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordsError(f"The recording cannot be written as JSON: {error}.") from error
    return text.encode()


def digest(recording: Recording) -> str:
    """Equal for recordings of the same experiment, wherever they were read from."""
    document = recording_to_json(recording)
    del document["passlens"]
    return hashlib.sha256(dumps(document)).hexdigest()


def cleaned(recording: Recording) -> Recording:
    """With text that every database and file takes, and the version that recorded it.

    Raises:
        RecordsError: a field has an impossible value.
    """
    document: dict[str, Any] = recording_to_json(recording)
    payload = document.pop("payload")
    document = {name: _clean(value) for name, value in document.items()}
    document["passlens"] = document["passlens"] or passlens_version()
    checked = recording_from_json(document | {"payload": payload}, bundle=_clean(recording.bundle))
    return replace(checked, id=recording.id)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value).items()
        return {clean(name): _clean(value) for name, value in inner}
    if isinstance(value, list):
        return [_clean(inner) for inner in cast("list[Any]", value)]
    return value


def clean(text: str) -> str:
    """Without lone surrogates and NUL, at most `MOST_TEXT` characters."""
    return text[:MOST_TEXT].encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def recording_from_json(document: object, *, bundle: str = "") -> Recording:
    """The recording in a JSON document.

    Raises:
        BundleRefused: a field is missing or has an impossible value.
    """
    entry = _Fields(document, "The recording")
    if entry.text("schema") != SCHEMA:
        raise BundleRefused(f"The recording is not of this version ({SCHEMA}).")
    kind = entry.text("kind")
    if kind not in KINDS:
        raise BundleRefused(f"The recording is of an unknown kind, {quoted(kind)}.")
    return Recording(
        kind=kind,
        title=entry.text("title"),
        model=entry.text("model"),
        model_hash=entry.text("model_hash"),
        machine=machine_from_json(entry.value("machine")),
        started_at=_moment(entry),
        seconds=entry.number("seconds"),
        measurements=_measurements(entry.value("measurements")),
        payload=entry.mapping("payload"),
        bundle=bundle,
        passlens=entry.text("passlens"),
    )


def machine_from_json(document: object) -> Machine:
    """A machine; what another version did not know is empty.

    Raises:
        BundleRefused: a field has an impossible value.
    """
    entry = _Fields(document, "The machine")
    known: dict[str, Any] = {}
    for field in fields(Machine):
        if field.type == "str":
            known[field.name] = entry.text(field.name, missing="")
        elif field.type == "int":
            known[field.name] = entry.count(field.name, missing=0)
        else:
            known[field.name] = entry.number(field.name, missing=0.0)
    return Machine(**known)


def _moment(entry: _Fields) -> str:
    text = entry.text("started_at")
    try:
        started(text)
    except (ValueError, OverflowError):
        raise BundleRefused(f"The recording's date is none: {quoted(text)}.") from None
    return text


def _measurements(rows: object) -> tuple[Measurement, ...]:
    if not isinstance(rows, list) or len(cast("list[object]", rows)) > MOST_MEASUREMENTS:
        raise BundleRefused(f"'measurements' is no list of at most {MOST_MEASUREMENTS:,} rows.")
    return tuple(_measurement(row) for row in cast("list[object]", rows))


def _measurement(document: object) -> Measurement:
    row = _Fields(document, "A measurement")
    times = ("p50_ms", "p95_ms", "min_ms", "first_ms", "create_ms")
    return Measurement(
        label=row.text("label"),
        workload=row.text("workload"),
        step=None if row.value("step") is None else row.count("step"),
        options=options_from_json(row.mapping("options")),
        runs=row.count("runs"),
        peak_bytes=row.count("peak_bytes"),
        error=row.text("error"),
        verdict=row.text("verdict"),
        **{name: None if row.value(name) is None else row.number(name) for name in times},
    )


def options_from_json(document: Mapping[str, Any]) -> dict[str, Value]:
    """Run-time options; names this version does not know are kept, for they are only shown.

    Raises:
        BundleRefused: a value is neither a truth value, a whole number nor text.
    """
    for name, value in document.items():
        if not isinstance(value, bool | int | str) or len(str(value)) > MOST_TEXT:
            raise BundleRefused(f"The option {quoted(name)} has an impossible value.")
    return dict(document)


class _Fields:
    """An object whose fields must have the right types."""

    def __init__(self, document: object, what: str) -> None:
        if not isinstance(document, dict):
            raise BundleRefused(f"{what} is no JSON object.")
        self._document = cast("dict[str, Any]", document)
        self._what = what

    def value(self, name: str) -> object:
        if name not in self._document:
            raise BundleRefused(f"{self._what} has no '{name}'.")
        return self._document[name]

    def text(self, name: str, *, missing: str | None = None) -> str:
        value = self._document.get(name, missing)
        if not isinstance(value, str) or len(value) > MOST_TEXT:
            raise self._wrong(name, f"text of at most {MOST_TEXT:,} characters")
        return value

    def count(self, name: str, *, missing: int | None = None) -> int:
        value = self._document.get(name, missing)
        if type(value) is not int or not 0 <= value <= _LARGEST:
            raise self._wrong(name, "a whole number, 0 or more")
        return value

    def number(self, name: str, *, missing: float | None = None) -> float:
        value = self._document.get(name, missing)
        if isinstance(value, int | float) and not isinstance(value, bool):
            with contextlib.suppress(OverflowError):
                if math.isfinite(value):
                    return float(value)
        raise self._wrong(name, "a finite number")

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.value(name)
        if not isinstance(value, dict):
            raise self._wrong(name, "an object")
        return cast("dict[str, Any]", value)

    def _wrong(self, name: str, wanted: str) -> BundleRefused:
        return BundleRefused(f"{self._what} has no right '{name}': it must be {wanted}.")
