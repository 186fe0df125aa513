"""Recordings as one portable file, `.passlens`: a zip of a manifest and a JSON a recording.

    manifest.json               schema, version, and of each recording file, kind, title, machine,
                                date and SHA-256
    recordings/0001.json        `passlens.recording/1`

Same recordings, same bytes: entries are sorted and undated. A bundle may come from anybody: it is
read within limits, nothing of it is ever unpacked onto the disk, and every field is checked.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any, NoReturn, cast

from optimizer.errors import quoted
from optimizer.numbers import bytes_text
from optimizer.versions import passlens_version
from profiling.records.errors import BundleRefused
from profiling.records.recording import Recording, hardware
from profiling.records.recording_json import (
    clean,
    cleaned,
    dumps,
    recording_from_json,
    recording_to_json,
)

SCHEMA = "passlens.bundle/1"
SUFFIX = ".passlens"
MOST_RECORDINGS = 1000
MOST_FILE_BYTES = 64 << 20
MOST_ENTRY_BYTES = 32 << 20
MOST_TOTAL_BYTES = 256 << 20
_MANIFEST = "manifest.json"
_ENTRY = re.compile(r"recordings/[0-9]{4}\.json")
_DAMAGE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError)
"""What `zipfile` raises over files that are none, or encrypted, or of an unknown method."""


def bundle_bytes(recordings: Iterable[Recording]) -> bytes:
    """A bundle of these recordings, in their order.

    Raises:
        RecordsError: one of them is no JSON.
        BundleRefused: there are too many.
    """
    whole = [cleaned(recording) for recording in recordings]
    if len(whole) > MOST_RECORDINGS:
        raise BundleRefused(f"{len(whole):,} recordings at once (limit {MOST_RECORDINGS:,}).")
    entries = {
        f"recordings/{number:04}.json": dumps(recording_to_json(recording))
        for number, recording in enumerate(whole, 1)
    }
    manifest = {
        "schema": SCHEMA,
        "version": passlens_version(),
        "recordings": [
            _described(recording, name, data)
            for recording, (name, data) in zip(whole, entries.items(), strict=True)
        ],
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        _add(archive, _MANIFEST, json.dumps(manifest, indent=1).encode())
        for name, data in entries.items():
            _add(archive, name, data)
    return file.getvalue()


def open_bundle(path: Path) -> tuple[Recording, ...]:
    """The recordings in a file.

    Raises:
        BundleRefused: see `read_bundle`.
    """
    try:
        if path.stat().st_size > MOST_FILE_BYTES:
            raise _too_large(path.name)
        data = path.read_bytes()
    except OSError as error:
        raise BundleRefused(f"{quoted(path.name)} cannot be read: {error.strerror}.") from error
    return read_bundle(data, name=path.name)


def read_bundle(data: bytes, *, name: str) -> tuple[Recording, ...]:
    """The recordings in a bundle's bytes, each labelled with the bundle's name.

    Raises:
        BundleRefused: it is no bundle, of another version, damaged, or exceeds a limit.
    """
    label = clean(PurePath(name).name)
    if len(data) > MOST_FILE_BYTES:
        raise _too_large(label)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read(archive, label)
    except BundleRefused:
        raise
    except _DAMAGE as error:
        raise BundleRefused(
            f"{quoted(label)} cannot be opened as a bundle of recordings: {error}."
        ) from error


def _read(archive: zipfile.ZipFile, label: str) -> tuple[Recording, ...]:
    entries = _entries(archive, label)
    manifest = _json(archive, entries[_MANIFEST], label)
    listed = manifest.get("recordings")
    if manifest.get("schema") != SCHEMA or not isinstance(listed, list):
        raise BundleRefused(f"{quoted(label)} is not a bundle of this version ({SCHEMA}).")
    found: list[Recording] = []
    for file, sha256 in map(_file_and_hash, cast("list[object]", listed)):
        info = entries.get(file)
        if info is None or file == _MANIFEST:
            raise BundleRefused(f"{quoted(label)} lists a recording that it does not hold.")
        found.append(_checked(_json(archive, info, label, sha256=sha256), file, label))
    return tuple(found)


def _file_and_hash(row: object) -> tuple[str, str]:
    fields = cast("dict[str, object]", row) if isinstance(row, dict) else {}
    return str(fields.get("file")), str(fields.get("sha256"))


def _checked(document: Mapping[str, Any], entry: str, label: str) -> Recording:
    try:
        return cleaned(recording_from_json(document, bundle=label))
    except BundleRefused as error:
        raise BundleRefused(f"{quoted(label)}, {entry}: {error.message}") from error


def _entries(archive: zipfile.ZipFile, label: str) -> dict[str, zipfile.ZipInfo]:
    """What is in it, once nothing is there that does not belong and nothing is too large."""
    infos = archive.infolist()
    if len(infos) > MOST_RECORDINGS + 1:
        raise BundleRefused(
            f"{quoted(label)} has {len(infos):,} entries (limit {MOST_RECORDINGS})."
        )
    for info in infos:
        if info.filename != _MANIFEST and _ENTRY.fullmatch(info.filename) is None:
            raise BundleRefused(f"{quoted(info.filename)} does not belong in a bundle.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BundleRefused(f"{quoted(label)} is compressed in a way that bundles are not.")
        if info.file_size > MOST_ENTRY_BYTES:
            raise _too_large(info.filename, info.file_size, MOST_ENTRY_BYTES)
    total = sum(info.file_size for info in infos)
    if total > MOST_TOTAL_BYTES:
        raise _too_large(label, total, MOST_TOTAL_BYTES)
    entries = {info.filename: info for info in infos}
    if len(entries) != len(infos) or _MANIFEST not in entries:
        raise BundleRefused(f"{quoted(label)} is no bundle: it has not exactly one manifest.json.")
    return entries


def _json(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, label: str, *, sha256: str | None = None
) -> dict[str, Any]:
    with archive.open(info) as file:
        data = file.read(MOST_ENTRY_BYTES + 1)  # `zipfile` reads no more than the entry declares
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise BundleRefused(f"{quoted(label)} is damaged: {info.filename} has changed.")
    try:
        document = json.loads(data, parse_constant=_refuse)
    except RecursionError:
        raise BundleRefused(f"{quoted(label)}: {info.filename} is nested too deeply.") from None
    if not isinstance(document, dict):
        raise BundleRefused(f"{quoted(label)}: {info.filename} is no JSON object.")
    return cast("dict[str, Any]", document)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _described(recording: Recording, name: str, data: bytes) -> dict[str, str]:
    return {
        "file": name,
        "kind": recording.kind,
        "title": recording.title,
        "machine": hardware(recording.machine),
        "started_at": recording.started_at,
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def _too_large(name: str, size: int | None = None, limit: int = MOST_FILE_BYTES) -> BundleRefused:
    has = f" has {bytes_text(size)}" if size is not None else " is too large"
    return BundleRefused(f"{quoted(name)}{has} (limit {bytes_text(limit)}).")
