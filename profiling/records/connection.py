"""From a URL to a database that answers, or one sentence why it does not."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError

from optimizer.errors import quoted
from profiling.records.errors import DatabaseRefused
from profiling.records.schema import VERSION, check, upgrade, version_of

_BUSY_MS = 15_000
_CONNECT_S = 3
_PAUSE_S = 5.0
"""For so long a server that did not answer is not asked again: pages must not wait every time."""


class Database:
    """An engine, made on first use, whose every error is one sentence.

    Args:
        url: `sqlite:///path` or `postgresql://…`; `URL` where a path has odd characters.

    Raises:
        DatabaseRefused: neither of them.
    """

    def __init__(self, url: str | URL) -> None:
        self.url = _checked(url)
        self._engine: Engine | None = None
        self._lock = Lock()
        self._down: tuple[float, str] | None = None

    def close(self) -> None:
        """Let go of all connections."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
            self._engine = None

    @contextmanager
    def transaction(self, *, write: bool = False) -> Generator[Connection]:
        """A transaction that sees one state, and is kept whole or not at all.

        Raises:
            DatabaseRefused: it cannot be reached, read or written.
        """
        engine = self._ready()
        try:
            with engine.execution_options(write=write).begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise self._refused(error) from error

    def _ready(self) -> Engine:
        """The engine, once the tables are there."""
        with self._lock:
            if self._down is not None and time.monotonic() < self._down[0]:
                raise DatabaseRefused(self._down[1])
            if self._engine is None:
                try:
                    self._engine = _opened(self.url)
                except (SQLAlchemyError, OSError, ImportError) as error:
                    raise self._refused(error) from error
            return self._engine

    def _refused(self, error: Exception) -> DatabaseRefused:
        """The sentence; a server that is away is left alone for a moment."""
        sentence = self._sentence(error)
        if self.url.get_backend_name() == "postgresql" and isinstance(error, OperationalError):
            self._down = (time.monotonic() + _PAUSE_S, sentence)
        return DatabaseRefused(sentence)

    def _sentence(self, error: Exception) -> str:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines() or ["no reason"]
        if isinstance(error, ImportError):
            reason = ["psycopg is missing (pip install 'passlens[postgresql]')"]
        place = "the PostgreSQL server"
        if self.url.get_backend_name() == "sqlite":
            place = quoted(Path(self.url.database or "").name)
        return (
            f"Recordings cannot be read or kept in {place}: {reason[0][:200].rstrip('.')}. "
            "What was measured stays on its page; see PASSLENS_DATABASE_URL."
        )


def _checked(url: str | URL) -> URL:
    try:
        made = make_url(url)
    except ArgumentError:
        made = None
    backend = made.get_backend_name() if made is not None else ""
    if made is not None and backend in ("postgresql", "postgres"):
        return made.set(drivername="postgresql+psycopg")
    if made is not None and backend == "sqlite" and made.database not in (None, "", ":memory:"):
        return made
    raise DatabaseRefused(
        "PASSLENS_DATABASE_URL is neither sqlite:///path/of/file nor "
        "postgresql://user:password@host/name."
    )


def _opened(url: URL) -> Engine:
    try:
        engine = _engine(url)
    except NoSuchModuleError as error:
        raise ImportError from error
    try:
        with engine.execution_options(write=False).begin() as connection:
            version = version_of(connection)
        check(version)
        if version != VERSION:
            with engine.execution_options(write=True).begin() as connection:
                upgrade(connection)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        timeouts = {"connect_timeout": _CONNECT_S}
        return create_engine(url, pool_pre_ping=True, connect_args=timeouts)
    assert url.database is not None
    if not url.database.startswith("file:"):
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, connect_args={"timeout": _BUSY_MS / 1000})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    """Writers wait for each other, readers for nobody."""
    connection.isolation_level = None  # SQLAlchemy, not the driver, says when a transaction begins
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    connection.execute("PRAGMA foreign_keys = ON")
    for _ in range(100):  # the change to WAL does not wait by itself
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
            break
        time.sleep(0.02)
    connection.execute("PRAGMA synchronous = NORMAL")


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes its turn at once: one that read first could not become a writer later."""
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
