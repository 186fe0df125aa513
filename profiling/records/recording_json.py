"""Recordings as JSON, lossless; what comes from elsewhere is held to bounds field by field."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, cast, get_args

from optimizer.codec import Format, Json
from optimizer.errors import StudioError, quoted
from optimizer.versions import passlens_version
from profiling.records.errors import BundleRefused, RecordsError
from profiling.records.recording import Kind, Recording, started

KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_TEXT = 4096
"""Characters of one text field."""

MOST_MEASUREMENTS = 10_000
_LARGEST = 2**63 - 1

# The payload may be large: it is not looked at, nor copied piece by piece.
_RECORDING = Format(
    Recording,
    "passlens.recording/1",
    "recording",
    names={"id": None, "bundle": None, "payload": None},
)


def recording_to_json(recording: Recording) -> Json:
    """Everything but the id and the bundle's name, which belong to a database."""
    return {**_RECORDING.to_json(recording), "payload": dict(recording.payload)}


def recording_from_json(document: object, *, bundle: str = "") -> Recording:
    """The recording in a JSON document.

    Raises:
        BundleRefused: a field is missing or has an impossible value.
    """
    try:
        found = _RECORDING.from_json(document)
        payload = cast("Json", document)["payload"]
    except StudioError as error:
        raise BundleRefused(error.message) from error
    except KeyError:
        raise BundleRefused("The recording has no 'payload'.") from None
    if not isinstance(payload, dict):
        raise BundleRefused("The recording's payload is no object.")
    if len(found.measurements) > MOST_MEASUREMENTS:
        raise BundleRefused(f"A recording has at most {MOST_MEASUREMENTS:,} measurements.")
    _check(asdict(found), "The recording")
    try:
        started(found.started_at)
    except (ValueError, OverflowError):
        raise BundleRefused(f"The recording's date is none: {quoted(found.started_at)}.") from None
    return replace(found, payload=cast("Json", payload), bundle=bundle)


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
    document = {name: _clean(value) for name, value in _RECORDING.to_json(recording).items()}
    document["passlens"] = document["passlens"] or passlens_version()
    document["payload"] = dict(recording.payload)
    checked = recording_from_json(document, bundle=clean(recording.bundle))
    return replace(checked, id=recording.id)


def clean(text: str) -> str:
    """Without lone surrogates and NUL, at most `MOST_TEXT` characters."""
    return text[:MOST_TEXT].encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        inner = cast("Json", value).items()
        return {clean(name): _clean(value) for name, value in inner}
    if isinstance(value, list):
        return [_clean(inner) for inner in cast("list[Any]", value)]
    return value


def _check(fields: Mapping[str, Any], what: str, *, least: int = 0) -> None:
    """Hold every field to what a database column takes.

    Raises:
        BundleRefused: one is longer, larger or less.
    """
    for name, value in fields.items():
        if isinstance(value, dict):  # of options, -1 may be one
            _check(cast("Json", value), what, least=-_LARGEST if name == "options" else 0)
        elif isinstance(value, tuple):
            for inner in cast("tuple[Json, ...]", value):
                _check(inner, "A measurement")
        elif isinstance(value, str) and len(value) > MOST_TEXT:
            raise _wrong(what, name, f"text of at most {MOST_TEXT:,} characters")
        elif isinstance(value, int) and not least <= value <= _LARGEST:
            raise _wrong(what, name, "a whole number, 0 or more, in 63 bits")
        elif isinstance(value, float) and not math.isfinite(value):
            raise _wrong(what, name, "a finite number")


def _wrong(what: str, name: str, wanted: str) -> BundleRefused:
    return BundleRefused(f"{what} has no right {quoted(name)}: it must be {wanted}.")
