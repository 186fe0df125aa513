"""Recordings in SQLite or PostgreSQL."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Self

from sqlalchemy import URL, ColumnElement, Select, exists, func, or_, select

from optimizer.numbers import bytes_text
from profiling.records import rows
from profiling.records.connection import Database
from profiling.records.errors import RecordsError
from profiling.records.listing import Choices, Filter, Listed
from profiling.records.recording import Recording
from profiling.records.recording_json import clean, cleaned, dumps
from profiling.records.tables import measurements, recordings, targets

PAGE = 100
MOST_PAYLOAD_BYTES = 24 << 20
EVERYTHING = Filter()
_LARGEST_ID = 2**31 - 1
_SHORT = tuple(c for c in recordings.c if c.name not in ("payload", "digest", "started"))


class Records:
    """The recordings of one database; may be shared by threads.

    Args:
        url: `sqlite:///path` or `postgresql://user:password@host/name`.

    Raises:
        DatabaseRefused: the URL is neither; from the methods, the database does not answer, or is
            newer than this program.
    """

    def __init__(self, url: str | URL) -> None:
        self._database = Database(url)

    def add(self, recording: Recording) -> int:
        """Keep a recording; returns its id. One that is there already is not kept twice.

        Raises:
            RecordsError: it is no JSON or too large, or the database cannot be written.
        """
        whole = cleaned(recording)
        payload = dumps(dict(whole.payload))
        if len(payload) > MOST_PAYLOAD_BYTES:
            raise RecordsError(
                f"The recording has {bytes_text(len(payload))} (limit "
                f"{bytes_text(MOST_PAYLOAD_BYTES)}) and was not kept."
            )
        with self._database.transaction(write=True) as connection:
            return rows.insert(connection, whole, zlib.compress(payload))

    def find(
        self, wanted: Filter = EVERYTHING, *, limit: int = PAGE, offset: int = 0
    ) -> list[Listed]:
        """Recordings, the newest first.

        Raises:
            DatabaseRefused: the database cannot be read.
        """
        counted = (
            select(func.count())
            .where(measurements.c.recording_id == recordings.c.id)
            .scalar_subquery()
            .label("variants")
        )
        query = (
            _where(select(*_SHORT, targets.c.description, counted), wanted)
            .order_by(recordings.c.started.desc(), recordings.c.id.desc())
            .limit(limit)
            .offset(offset)
        )
        with self._database.transaction() as connection:
            return [rows.listed(row) for row in connection.execute(query)]

    def count(self, wanted: Filter = EVERYTHING) -> int:
        """How many there are.

        Raises:
            DatabaseRefused: the database cannot be read.
        """
        query = _where(select(func.count()), wanted)
        with self._database.transaction() as connection:
            return connection.scalar(query) or 0

    def load(self, identity: int) -> Recording:
        """A whole recording.

        Raises:
            RecordsError: there is none with this id, or the database cannot be read.
        """
        query = _where(select(*_SHORT, recordings.c.payload, targets.c.description), EVERYTHING)
        inside = select(measurements).where(
            measurements.c.recording_id == min(identity, _LARGEST_ID)
        )
        with self._database.transaction() as connection:
            here = recordings.c.id == min(identity, _LARGEST_ID)
            row = connection.execute(query.where(here)).one_or_none()
            if row is None:
                raise RecordsError(f"There is no recording {identity}; it may have been deleted.")
            measured = connection.execute(inside.order_by(measurements.c.position)).all()
        return rows.recorded(row, (rows.measured_in(one) for one in measured))

    def delete(self, identity: int) -> bool:
        """Remove a recording; whether there was one.

        Raises:
            DatabaseRefused: the database cannot be written.
        """
        query = recordings.delete().where(recordings.c.id == min(identity, _LARGEST_ID))
        with self._database.transaction(write=True) as connection:
            return connection.execute(query).rowcount > 0

    def choices(self) -> Choices:
        """What there is to filter by.

        Raises:
            DatabaseRefused: the database cannot be read.
        """
        used = exists().where(recordings.c.target_id == targets.c.id)
        queries = (
            select(recordings.c.kind),
            select(recordings.c.model),
            select(targets.c.hardware).where(used),
            select(recordings.c.bundle).where(recordings.c.bundle != ""),
        )
        with self._database.transaction() as connection:
            found: list[Any] = [
                tuple(sorted(connection.scalars(query.distinct()))) for query in queries
            ]
        return Choices(*found)

    def close(self) -> None:
        """Let go of the database; the next call opens it again."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _where(query: Select[Any], wanted: Filter) -> Select[Any]:
    joined = query.select_from(
        recordings.join(targets, recordings.c.target_id == targets.c.id),
    )
    return joined.where(*_conditions(wanted))


def _conditions(wanted: Filter) -> Iterator[ColumnElement[bool]]:
    if wanted.kinds:
        yield recordings.c.kind.in_(wanted.kinds)
    equal = {
        recordings.c.model: wanted.model,
        recordings.c.model_hash: wanted.model_hash,
        targets.c.hardware: wanted.machine,
        recordings.c.bundle: wanted.bundle,
    }
    for column, value in equal.items():
        if value:
            yield column == value
    if wanted.text:
        text = clean(wanted.text)
        places = (recordings.c.title, recordings.c.model, targets.c.hardware)
        yield or_(*(column.icontains(text, autoescape=True) for column in places))
    if wanted.since is not None:
        yield recordings.c.started >= wanted.since.timestamp()
    if wanted.until is not None:
        yield recordings.c.started < wanted.until.timestamp()
