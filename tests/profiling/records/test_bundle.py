"""Bundles carry recordings unchanged, and nothing that is no bundle gets in."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from profiling.records import BundleRefused, Records, origin
from profiling.records.bundle import bundle_bytes, open_bundle, read_bundle
from profiling.records.tabular import recordings_csv, recordings_json
from tests.profiling.records.samples import H100, RACE, sample


def test_a_bundle_brings_back_what_was_put_in(tmp_path: Path) -> None:
    put = (RACE, sample(1, machine=H100), sample(2, measurements=(), payload={}))
    path = tmp_path / "ours.passlens"
    path.write_bytes(bundle_bytes(put))
    got = open_bundle(path)
    assert tuple(replace(one, bundle="", passlens="") for one in got) == put
    assert {one.bundle for one in got} == {"ours.passlens"}
    assert bundle_bytes(got) == path.read_bytes()


def test_from_database_to_bundle_to_another_database(tmp_path: Path, database_url: str) -> None:
    here, there = Records(database_url), Records(f"sqlite:///{tmp_path / 'there.sqlite'}")
    made = [here.add(sample(number, machine=H100)) for number in range(3)]
    data = bundle_bytes(here.load(one) for one in made)
    for recording in read_bundle(data, name="gpu.passlens"):
        there.add(recording)
    for one, two in zip(reversed(made), there.find(), strict=True):
        again = there.load(two.id)
        assert replace(again, id=one, bundle="") == here.load(one)
        assert origin(again).startswith("Recorded on NVIDIA H100 80GB HBM3, Xeon 8481C, 16 cores")
        assert origin(again).endswith(
            "2026-11-01 00:0" + again.title[-1] + " UTC, from gpu.passlens"
        )
    for recording in read_bundle(data, name="gpu.passlens"):
        here.add(recording)  # it was measured here: nothing new
    assert (here.count(), there.count()) == (3, 3)
    here.close()
    there.close()


def test_a_manifest_says_what_is_inside() -> None:
    with zipfile.ZipFile(io.BytesIO(bundle_bytes([RACE]))) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["schema"] == "passlens.bundle/1"
    assert manifest["recordings"][0]["machine"] == "Xeon 8481C, 16 cores"
    assert manifest["recordings"][0]["started_at"] == RACE.started_at


ENTRY = "recordings/0001.json"


def packed(
    document: Any,
    *,
    name: str = ENTRY,
    manifest: Any = None,
    others: dict[str, bytes] | None = None,
) -> bytes:
    """A bundle of one entry whose hash is right, whatever else is wrong."""
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    row = {"file": name, "sha256": hashlib.sha256(data).hexdigest()}
    listed = {"schema": "passlens.bundle/1", "recordings": [row]} if manifest is None else manifest
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(listed))
        archive.writestr(name, data)
        for other, content in (others or {}).items():
            archive.writestr(other, content)
    return file.getvalue()


def good() -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(bundle_bytes([RACE]))) as archive:
        return json.loads(archive.read(ENTRY))


def bad(*path: str | int, to: Any) -> dict[str, Any]:
    """The good document with one field changed."""
    document = place = good()
    for key in path[:-1]:
        place = place[key]  # pyright: ignore[reportArgumentType] - lists and objects alike
    place[path[-1]] = to  # pyright: ignore[reportArgumentType]
    return document


def test_the_packing_of_these_tests_is_right() -> None:
    assert read_bundle(packed(good()), name="x")[0].title == RACE.title


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("schema",), "passlens.recording/9", r"schema is not passlens.recording/1"),
        (("kind",), "virus", "virus not in literal"),
        (("title",), 3, r"expected str @ \$.title"),
        (("title",), "x" * 5000, "at most 4,096 characters"),
        (("started_at",), "yesterday", "date is none: 'yesterday'"),
        (("started_at",), "9999-12-31T23:59:59-23:59", "date is none"),
        (("seconds",), "fast", "expected float"),
        (("seconds",), True, "expected float"),
        (("seconds",), 10**400, "'seconds': it must be a whole number"),
        (("payload",), [], "payload is no object"),
        (("measurements",), {"a": 1}, r"expected Measurement @ \$.measurements"),
        (("measurements",), [7], r"expected Measurement @ \$.measurements\[0\]"),
        (("measurements", 0, "runs"), -1, "0 or more"),
        (("measurements", 0, "peak_bytes"), 2**63, "0 or more"),
        (
            ("measurements", 0, "p50_ms"),
            [],
            r"expected float \| None @ \$.measurements\[0\].p50_ms",
        ),
        (("measurements", 0, "options"), {"a": [1]}, r"options\['a'\]"),
        (("machine",), "mine", r"expected Machine @ \$.machine"),
        (("machine", "cores"), "many", r"expected int @ \$.machine.cores"),
    ],
)
def test_a_wrong_field_is_named(path: tuple[str | int, ...], value: Any, says: str) -> None:
    with pytest.raises(BundleRefused, match=says) as caught:
        read_bundle(packed(bad(*path, to=value)), name="x.passlens")
    assert "'x.passlens', recordings/0001.json" in caught.value.message
    assert len(caught.value.message) < 400


@pytest.mark.parametrize("field", sorted(set(good()) - {"schema", "passlens"}))
def test_a_missing_field_is_named(field: str) -> None:
    document = good()
    del document[field]
    with pytest.raises(BundleRefused, match=rf"required field missing @ \$.{field}'|no '{field}'"):
        read_bundle(packed(document), name="x.passlens")


def bomb() -> bytes:
    return packed(b" " * (33 << 20))


def many_bombs() -> bytes:
    return packed(
        good(), others={f"recordings/{n:04}.json": b" " * (31 << 20) for n in range(2, 11)}
    )


def crowd() -> bytes:
    return packed(good(), others={f"recordings/{n:04}.json": b"" for n in range(2, 1003)})


def liar() -> bytes:
    """Its directory says that the entry is small."""
    data = bytearray(packed(good()))
    for start in (data.find(b"PK\1\2", data.find(b"PK\1\2") + 1) + 24,):
        data[start : start + 4] = (10).to_bytes(4, "little")
    return bytes(data)


def flipped() -> bytes:
    data = bytearray(packed(good()))
    data[len(data) // 2] ^= 0xFF
    return bytes(data)


def twice() -> bytes:
    with pytest.warns(UserWarning, match="Duplicate name"):
        return packed(good(), others={ENTRY: b"{}"})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: b"", "cannot be opened"),
        (lambda: b"PK\3\4 and so on", "cannot be opened"),
        (lambda: bundle_bytes([RACE])[:-30], "cannot be opened"),
        (lambda: b"x" * ((64 << 20) + 1), "too large"),
        (bomb, "33 MiB"),
        (many_bombs, "limit 256 MiB"),
        (crowd, "1,003 entries"),
        (liar, "x.passlens"),
        (flipped, "x.passlens"),
        (twice, "exactly one"),
        (lambda: packed(good(), name="../../etc/passwd"), "'../../etc/passwd' does not belong"),
        (lambda: packed(good(), name="/recordings/0001.json"), "does not belong"),
        (lambda: packed(good(), others={"recordings/": b""}), "does not belong"),
        (lambda: packed(good(), others={"run.exe": b"MZ"}), "does not belong"),
        (lambda: packed(good(), manifest={"schema": "passlens.bundle/2"}), "not a bundle of this"),
        (lambda: packed(good(), manifest=[1]), "no JSON object"),
        (
            lambda: packed(good(), manifest={"schema": "passlens.bundle/1", "recordings": [3]}),
            "lists",
        ),
        (
            lambda: packed(
                good(),
                manifest={"schema": "passlens.bundle/1", "recordings": [{"file": "manifest.json"}]},
            ),
            "lists a recording",
        ),
        (
            lambda: packed(
                good(),
                manifest={
                    "schema": "passlens.bundle/1",
                    "recordings": [{"file": ENTRY, "sha256": ""}],
                },
            ),
            "has changed",
        ),
        (lambda: packed(b"[" * 100_000), "nested too deeply"),
        (lambda: packed(b"\xff\xfe"), "cannot be opened"),
        (lambda: packed(b'{"schema": NaN}'), "NaN is no JSON"),
        (lambda: packed(b"9" * 5000), "cannot be opened"),
    ],
)
def test_a_hostile_file_is_one_sentence(make: Callable[[], bytes], says: str) -> None:
    with pytest.raises(BundleRefused, match=says) as caught:
        read_bundle(make(), name="/home/eve/x.passlens")
    assert "/home/eve" not in caught.value.message
    assert "\n" not in caught.value.message


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BundleRefused, match=r"'no\.passlens' cannot be read"):
        open_bundle(tmp_path / "no.passlens")


def test_a_machine_from_another_version_is_read_as_far_as_it_is_known() -> None:
    document = good()
    del document["machine"]["gpu"]
    document["machine"]["quantum"] = True
    assert read_bundle(packed(document), name="x")[0].machine == replace(RACE.machine, gpu="")


def test_csv_has_a_line_a_measurement_and_no_formula() -> None:
    evil = replace(RACE, title="=HYPERLINK(1)", model="@SUM(A1)")
    rows = list(csv.DictReader(io.StringIO(recordings_csv([evil, sample(2)]))))
    assert len(rows) == 6
    assert (rows[0]["title"], rows[0]["model"]) == ("'=HYPERLINK(1)", "'@SUM(A1)")
    assert float(rows[0]["p50_ms"]) == 12.5
    assert rows[1]["options"] == "device=cpu intra_threads=4 tf32=False"
    assert rows[1]["as"] == "bare"
    assert rows[2]["p50_ms"] == ""
    assert rows[2]["error"] == "The worker died of SIGKILL."


def test_json_holds_everything() -> None:
    document = json.loads(recordings_json([replace(RACE, id=7, bundle="b.passlens")]))
    assert document["schema"] == "passlens.recordings/1"
    entry = document["recordings"][0]
    assert (entry["id"], entry["bundle"], entry["payload"]) == (7, "b.passlens", dict(RACE.payload))
