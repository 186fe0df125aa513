"""Recordings as rows of the tables, and back."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Connection, Row, Table, select
from sqlalchemy.dialects import postgresql, sqlite

from optimizer.codec import structured
from profiling.machine import Machine
from profiling.records.listing import Listed
from profiling.records.recording import Measurement, Recording, hardware, started
from profiling.records.recording_json import digest, dumps
from profiling.records.tables import measurements, recordings, targets

_COPIED = (
    "kind",
    "title",
    "model",
    "model_hash",
    "started_at",
    "seconds",
    "bundle",
    "passlens",
)
"""Fields that are columns as they are."""

_MEASURED = tuple(field.name for field in fields(Measurement))


def insert(connection: Connection, recording: Recording, payload: bytes) -> int:
    """Insert a recording unless it is there; its id either way."""
    mark = digest(recording)
    row = {
        **{name: getattr(recording, name) for name in _COPIED},
        "digest": mark,
        "target_id": _target(connection, recording.machine),
        "load": recording.machine.load,
        "started": started(recording.started_at).timestamp(),
        "payload": payload,
    }
    is_new = _insert_unless_there(connection, recordings, row)
    found = connection.scalar(select(recordings.c.id).where(recordings.c.digest == mark))
    assert found is not None
    rows = [
        _measurement_row(found, position, measured)
        for position, measured in enumerate(recording.measurements)
    ]
    if is_new and rows:
        connection.execute(measurements.insert(), rows)
    return found


def listed(row: Row[Any]) -> Listed:
    """From a row of `recordings` with its target's description and `variants`."""
    copied: dict[str, Any] = {name: getattr(row, name) for name in _COPIED}
    return Listed(id=row.id, machine=_machine(row), variants=row.variants, **copied)


def recorded(row: Row[Any], measured: Iterable[Measurement]) -> Recording:
    """From a row of `recordings` with its target's description."""
    copied: dict[str, Any] = {name: getattr(row, name) for name in _COPIED}
    return Recording(
        id=row.id,
        machine=_machine(row),
        measurements=tuple(measured),
        payload=json.loads(zlib.decompress(row.payload)),
        **copied,
    )


def measured_in(row: Row[Any]) -> Measurement:
    """From a row of `measurements`."""
    copied: dict[str, Any] = {name: getattr(row, name) for name in _MEASURED}
    return Measurement(**{**copied, "options": json.loads(row.options)})


def _machine(row: Row[Any]) -> Machine:
    return structured(Machine, {**json.loads(row.description), "load": row.load}, "machine")


def _target(connection: Connection, machine: Machine) -> int:
    described = asdict(machine)
    del described["load"]  # of the moment, not of the machine
    description = dumps(described).decode()
    mark = hashlib.sha256(description.encode()).hexdigest()
    row = {
        "fingerprint": mark,
        "hardware": hardware(machine),
        "gpu": machine.gpu,
        "runtime": machine.runtime,
        "description": description,
    }
    _insert_unless_there(connection, targets, row)
    found = connection.scalar(select(targets.c.id).where(targets.c.fingerprint == mark))
    assert found is not None
    return found


def _insert_unless_there(connection: Connection, table: Table, row: dict[str, Any]) -> bool:
    """Insert a row; False if its unique key is taken, by another process a moment ago even."""
    insert_into = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement = insert_into(table).values(row).on_conflict_do_nothing().returning(table.c.id)
    return connection.scalar(statement) is not None  # a driver's count of rows may be "unknown"


def _measurement_row(identity: int, position: int, measured: Measurement) -> dict[str, Any]:
    options = dumps(dict(measured.options))
    return {
        **asdict(measured),
        "options": options.decode(),
        "config_hash": hashlib.sha256(options).hexdigest()[:16],
        "recording_id": identity,
        "position": position,
    }
