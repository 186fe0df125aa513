"""Documents that earlier versions wrote: those in the recordings that come along."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import studio
from optimizer.codec import Format
from profiling.kernels.selection import SELECTION
from profiling.racing.race import RACE
from profiling.racing.sweep import SWEEP

SHIPPED = sorted(Path(studio.__file__).parent.glob("recordings/*.passlens"))
FORMATS: tuple[Format[Any], ...] = (RACE, SWEEP)


def tagged(document: object, schema: str) -> Iterator[dict[str, Any]]:
    """Every object of that schema, however deep it lies."""
    if isinstance(document, list):
        for one in cast("list[object]", document):
            yield from tagged(one, schema)
    elif isinstance(document, dict):
        fields = cast("dict[str, Any]", document)
        if fields.get("schema") == schema:
            yield fields
        for one in fields.values():
            yield from tagged(one, schema)


def shipped(schema: str) -> Iterator[dict[str, Any]]:
    for path in SHIPPED:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield from tagged(json.loads(archive.read(name)), schema)


def test_races_of_kernels_are_read_as_the_first_version_wrote_them() -> None:
    documents = list(shipped("passlens.kernels/1"))
    assert documents
    for document in documents:
        found = SELECTION.from_json(document)
        assert [one.operator.workload.key for one in found.races] == [
            race["workload"] for race in document["races"]
        ]
        assert [len(one.candidates) for one in found.races] == [
            len(race["candidates"]) for race in document["races"]
        ]
        assert all(one.operator in found.hotspots.operators for one in found.races)
        assert SELECTION.loads(SELECTION.dumps(found)) == found


LATER = frozenset(
    {"as", "sqnr_db", "worst_db", "signal", "noise", "cosine", "left_out", "written_slow"}
)
"""What a race says only since: its question, more measures of likeness, kernels left out, slow
operators that the runtime wrote."""


def as_recorded(document: object) -> object:
    """Without the fields that came later; where they are missing, nothing shows them."""
    text = json.dumps(document, allow_nan=False, sort_keys=True)
    return json.loads(
        text, object_hook=lambda fields: {k: fields[k] for k in fields if k not in LATER}
    )


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.schema)
def test_what_was_recorded_before_is_read_and_written_as_it_was(form: Format[Any]) -> None:
    documents = list(shipped(form.schema))
    assert documents
    for document in documents:
        again = form.to_json(form.from_json(document))
        assert as_recorded(again) == as_recorded(document)
        assert form.loads(form.dumps(form.from_json(document))) == form.from_json(document)
