"""Databases that are not there, broken, or read-only: one sentence, and no harm."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from profiling.records import DatabaseRefused, Records
from tests.profiling.records.samples import RACE, sample


@pytest.mark.parametrize(
    "url",
    ["", "nonsense", "sqlite://", "sqlite:///:memory:", "mysql://u:secret@host/db", "oracle://x"],
)
def test_a_url_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(DatabaseRefused, match="sqlite:///path/of/file nor postgresql://") as caught:
        Records(url)
    assert "secret" not in caught.value.message


def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    path.write_bytes(b"dear diary, " * 100)
    with pytest.raises(DatabaseRefused, match=r"'notes.sqlite'.*not a database"):
        Records(f"sqlite:///{path}").add(RACE)
    assert path.read_bytes() == b"dear diary, " * 100


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseRefused, match=r"Recordings cannot be read or kept in 'r.sqlite'"):
        Records(f"sqlite:///{tmp_path}/file/inside/r.sqlite").find()


def test_a_database_that_is_read_only_is_still_read(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    writer = Records(f"sqlite:///{path}")
    identity = writer.add(RACE)
    reader = Records(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert reader.load(identity).title == RACE.title
    with pytest.raises(DatabaseRefused, match="readonly"):
        reader.add(sample(1))
    with pytest.raises(DatabaseRefused, match="readonly"):
        reader.delete(identity)
    reader.close()
    writer.close()


def test_tables_of_another_program_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE recordings (song TEXT)")
    other.commit()
    with pytest.raises(DatabaseRefused, match="recordings already exists"):
        Records(f"sqlite:///{path}").add(RACE)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("recordings",)]
    other.close()


def test_sqlite_writes_ahead_and_minds_foreign_keys(tmp_path: Path) -> None:
    records = Records(f"sqlite:///{tmp_path / 'r.sqlite'}")
    with records._database.transaction() as connection:  # pyright: ignore[reportPrivateUsage] - settings of a connection
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 15_000
    records.close()


def test_a_server_that_is_away_is_one_sentence_without_the_password(tmp_path: Path) -> None:
    away = Records(f"postgresql://me:hunter2@/db?host={tmp_path}")
    for _ in range(2):
        with pytest.raises(DatabaseRefused, match="the PostgreSQL server") as caught:
            away.find()
        assert "hunter2" not in caught.value.message
        assert "stays on its page" in caught.value.message


def test_a_server_that_goes_away_and_comes_back_is_used_again(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    records = Records(postgresql_url)
    identity = records.add(RACE)
    _, _, rest = postgresql_url.partition("@/")
    name, _, host = rest.partition("?host=")
    with psycopg.connect(f"host={host} user=passlens dbname=postgres", autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
        )
        with pytest.raises(DatabaseRefused):
            records.load(identity)
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())
        with pytest.raises(DatabaseRefused):  # left alone for a moment
            records.load(identity)
        later = time.monotonic() + 60
        monkeypatch.setattr("profiling.records.connection.time.monotonic", lambda: later)
        assert records.load(identity).title == RACE.title
    records.close()
