"""Every test on SQLite and on PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, text

from profiling.records import DatabaseRefused, Filter, Records, RecordsError, hardware
from profiling.records.connection import Database
from profiling.records.schema import upgrade, version_of
from tests.profiling.records.samples import H100, RACE, XEON, sample

ROOT = Path(__file__).parents[3]
NONE: set[str] = set()


@pytest.fixture
def records(database_url: str) -> Iterator[Records]:
    opened = Records(database_url)
    yield opened
    opened.close()


def test_a_recording_comes_back_as_it_was(records: Records) -> None:
    identity = records.add(RACE)
    again = records.load(identity)
    assert again.passlens
    assert replace(again, id=0, passlens="") == RACE


def test_the_same_recording_is_kept_once(records: Records) -> None:
    first = records.add(RACE)
    assert records.add(RACE) == first
    assert records.add(replace(RACE, bundle="elsewhere.passlens")) == first
    assert records.count() == 1
    assert len(records.load(first).measurements) == 3
    assert records.add(replace(RACE, seconds=22.0)) != first


def test_the_newest_come_first_page_by_page(records: Records) -> None:
    for number in (3, 1, 4, 0, 2):
        records.add(sample(number))
    pages = [records.find(limit=2, offset=offset) for offset in (0, 2, 4)]
    titles = [[entry.title for entry in page] for page in pages]
    assert titles == [["Race 4", "Race 3"], ["Race 2", "Race 1"], ["Race 0"]]
    assert pages[0][0].variants == 3


def test_moments_are_compared_whatever_the_zone_they_are_written_in(records: Records) -> None:
    records.add(replace(RACE, title="later", started_at="2026-11-21T12:30:00+00:00"))
    records.add(replace(RACE, title="earlier", started_at="2026-11-21T13:59:00.5+02:00"))
    assert [entry.title for entry in records.find()] == ["later", "earlier"]


@pytest.mark.parametrize(
    ("wanted", "titles"),
    [
        (Filter(), {"A", "B", "100% of C_"}),
        (Filter(kinds=("sweep",)), {"B"}),
        (Filter(kinds=("sweep", "race")), {"A", "B", "100% of C_"}),
        (Filter(model="bert"), {"B"}),
        (Filter(model="ber"), NONE),
        (Filter(machine=hardware(H100)), {"100% of C_"}),
        (Filter(text="h100"), {"100% of C_"}),
        (Filter(text="BERT"), {"B"}),
        (Filter(text="%"), {"100% of C_"}),
        (Filter(text="_"), {"100% of C_"}),
        (Filter(text="'; DROP TABLE recordings; --"), NONE),
        (Filter(text="\0\ud800"), NONE),
        (Filter(bundle="x.passlens"), {"100% of C_"}),
        (Filter(since=datetime(2026, 11, 21, 12, tzinfo=UTC)), {"A", "B"}),
        (Filter(until=datetime(2026, 11, 21, 12, tzinfo=UTC)), {"100% of C_"}),
        (Filter(kinds=("race",), model="resnet50", text="xeon", machine=hardware(XEON)), {"A"}),
    ],
)
def test_filters_find_what_they_say(records: Records, wanted: Filter, titles: set[str]) -> None:
    old = "2026-11-20T00:00:00Z"
    records.add(replace(RACE, title="A"))
    records.add(replace(RACE, title="B", kind="sweep", model="bert"))
    records.add(
        replace(RACE, title="100% of C_", machine=H100, started_at=old, bundle="x.passlens")
    )
    assert {entry.title for entry in records.find(wanted)} == titles
    assert records.count(wanted) == len(titles)


def test_there_is_something_to_filter_by(records: Records) -> None:
    assert records.choices().models == ()
    records.add(RACE)
    records.add(replace(RACE, model="bert", machine=replace(XEON, runtime="onnxruntime 1.24")))
    choices = records.choices()
    assert (choices.kinds, choices.models, choices.bundles) == (("race",), ("bert", "resnet50"), ())
    assert choices.machines == ("Xeon 8481C, 16 cores",)


def test_a_deleted_recording_is_gone_with_its_measurements(records: Records) -> None:
    first, second = records.add(sample(1)), records.add(sample(2))
    assert records.delete(first)
    assert not records.delete(first)
    with pytest.raises(RecordsError, match=f"no recording {first}"):
        records.load(first)
    assert len(records.load(second).measurements) == 3
    with records._database.transaction() as connection:  # pyright: ignore[reportPrivateUsage] - what the tables hold
        assert connection.scalar(text("SELECT count(*) FROM measurements")) == 3


@pytest.mark.parametrize("identity", [0, -1, 2**31, 2**80])
def test_an_id_that_cannot_be_is_nobodys(records: Records, identity: int) -> None:
    records.add(RACE)
    with pytest.raises(RecordsError, match="no recording"):
        records.load(identity)
    assert not records.delete(identity)


def test_text_that_databases_refuse_is_kept_readable(records: Records) -> None:
    odd = "a\0b\ud800c <b>'\"\\ ünï 🙂"
    payload = {"label\0": "x\0y"}
    identity = records.add(replace(RACE, title=odd, model="m" * 9000, payload=payload))
    again = records.load(identity)
    assert again.title == "a\ufffdb?c <b>'\"\\ ünï 🙂"
    assert len(again.model) == 4096
    assert again.payload == payload


def test_a_payload_that_is_no_json_is_refused_and_nothing_is_kept(records: Records) -> None:
    for payload in ({"x": float("nan")}, {"x": object()}):
        with pytest.raises(RecordsError, match="JSON"):
            records.add(replace(RACE, payload=payload))
    assert records.count() == 0


def test_a_recording_that_is_too_large_is_refused(records: Records) -> None:
    with pytest.raises(RecordsError, match="limit 24 MiB"):
        records.add(replace(RACE, payload={"x": "y" * (24 << 20)}))


WRITER = """
import sys
from dataclasses import replace
from profiling.records import Records
from tests.profiling.records.samples import RACE, sample
records = Records(sys.argv[1])
for number in range(20):
    records.add(replace(sample(number), seconds=float(sys.argv[2])))
    records.add(sample(number))
"""


@pytest.mark.thorough
def test_processes_that_write_at_once_lose_nothing(records: Records, database_url: str) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, database_url, str(number)], cwd=ROOT)
        for number in (1, 2)
    ]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    assert records.count() == 2 * 20 + 20
    assert all(entry.variants == 3 for entry in records.find(limit=200))


def test_a_database_of_a_newer_program_is_refused_in_one_sentence(database_url: str) -> None:
    database = Database(database_url)
    with database.transaction(write=True) as connection:
        connection.execute(text("UPDATE passlens_schema SET version = 99"))
    database.close()
    newer = Records(database_url)
    with pytest.raises(DatabaseRefused, match="newer Passlens \\(schema 99"):
        newer.add(RACE)


def test_an_older_database_is_brought_up_to_date_step_by_step(database_url: str) -> None:
    def colour(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE recordings ADD COLUMN colour TEXT"))

    def paint(connection: Connection) -> None:
        connection.execute(text("UPDATE recordings SET colour = 'blue'"))

    records = Records(database_url)
    identity = records.add(RACE)
    records.close()
    database = Database(database_url)
    with database.transaction(write=True) as connection:
        upgrade(connection, newest=3, migrations={2: colour, 3: paint})
        assert version_of(connection) == 3
        assert connection.scalar(text("SELECT colour FROM recordings")) == "blue"
        upgrade(connection, newest=3, migrations={})
    assert identity
    database.close()


def test_a_migration_that_fails_leaves_the_old_version(database_url: str) -> None:
    def half(connection: Connection) -> None:
        connection.execute(text("UPDATE recordings SET title = 'half'"))
        connection.execute(text("SELECT nothing FROM nowhere"))

    records = Records(database_url)
    identity = records.add(RACE)
    database = Database(database_url)
    with pytest.raises(DatabaseRefused), database.transaction(write=True) as connection:
        upgrade(connection, newest=2, migrations={2: half})
    with database.transaction() as connection:
        assert version_of(connection) == 1
    assert records.load(identity).title == RACE.title
    records.close()
    database.close()


def test_filters_and_order_have_their_indexes(records: Records, database_url: str) -> None:
    records.count()
    made = create_engine(database_url.replace("postgresql:", "postgresql+psycopg:"))
    indexed = {tuple(index["column_names"]) for index in inspect(made).get_indexes("recordings")}
    made.dispose()
    wanted = {("started", "id"), ("kind", "started"), ("model", "started"), ("bundle",)}
    assert wanted <= indexed
