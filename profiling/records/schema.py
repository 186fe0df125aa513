"""The version of a database, and how an older one becomes as new as this program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlalchemy import Column, Connection, Integer, MetaData, Table, inspect, select, text

from profiling.records.errors import DatabaseRefused
from profiling.records.tables import metadata

VERSION = 1
Migration = Callable[[Connection], None]
MIGRATIONS: Mapping[int, Migration] = MappingProxyType({})
"""What makes a database of the version before into one of this version. Once released, never
changed; it must not use `tables.py`, which describes the newest version only."""

_LOCK = 0x7061736C
"""Of ours among PostgreSQL's advisory locks."""

_schema = Table("passlens_schema", MetaData(), Column("version", Integer, nullable=False))


def version_of(connection: Connection) -> int:
    """The database's version; 0 if it is empty."""
    if not inspect(connection).has_table(_schema.name):
        return 0
    return connection.scalar(select(_schema.c.version)) or 0


def check(version: int, *, newest: int = VERSION) -> None:
    """Refuse a database that a newer program wrote.

    Raises:
        DatabaseRefused: it is newer.
    """
    if version > newest:
        raise DatabaseRefused(
            f"The recordings were written by a newer Passlens (schema {version}; this one knows "
            f"{newest}): update Passlens, or name another database in PASSLENS_DATABASE_URL."
        )


def upgrade(
    connection: Connection,
    *,
    newest: int = VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Create the tables, or bring older ones up to date, in the transaction of `connection`.

    Raises:
        DatabaseRefused: the database is newer.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    version = version_of(connection)
    check(version, newest=newest)
    if version == 0:
        metadata.create_all(connection, checkfirst=False)
        _schema.create(connection)
        connection.execute(_schema.insert().values(version=newest))
        return
    for step in range(version + 1, newest + 1):
        migrations[step](connection)
    connection.execute(_schema.update().values(version=newest))
