from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from optimizer.codec import Format, Json, renamed, written_as
from optimizer.errors import StudioError

Value = bool | int | str


class Degrees:
    def __init__(self, celsius: float) -> None:
        self.celsius = celsius

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Degrees) and other.celsius == self.celsius

    def __hash__(self) -> int:
        return hash(self.celsius)


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    kind: Literal["a", "b"]
    limit: float = 0.0
    sizes: tuple[int, ...] = ()
    pair: tuple[int, str] = (0, "")


@dataclass(frozen=True, slots=True)
class Label:
    text: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Whole:
    parts: tuple[Part, ...]
    heat: Degrees
    best: Part | None = None
    label: Label = Label("")
    rows: tuple[tuple[float, ...], ...] = ()
    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])


written_as(Degrees, lambda degrees: degrees.celsius, Degrees)
renamed(Label, text="label", remark=None)
PART = Format(Part, "passlens.test-part/1", "recorded part")


def _from_first(document: Json) -> Json:
    return {**document, "heat": document["kelvin"] - 273}


WHOLE = Format(
    Whole,
    "passlens.test/2",
    "recorded whole",
    names={"parts": "pieces"},
    derived={"count": lambda whole: len(whole.parts)},
    older={"passlens.test/1": _from_first},
)

A_WHOLE = Whole(
    (Part("x", "a", math.inf, (1, 2), (3, "four")), Part("nan", "b", -math.inf)),
    Degrees(36.6),
    Part("y", "b"),
    Label("l"),
    ((1.5, 2.0, math.inf), ()),
    {"threads": 2, "device": "cpu", "profile": True, "infinity": "inf"},
    {"anything": [1, {"x": None}]},
)


def test_a_dataclass_comes_back_as_it_was_through_text_of_strict_json() -> None:
    assert WHOLE.loads(WHOLE.dumps(A_WHOLE)) == A_WHOLE
    assert json.loads(WHOLE.dumps(A_WHOLE)) == WHOLE.to_json(A_WHOLE)


def test_what_is_no_number_comes_back_as_none() -> None:
    again = PART.loads(PART.dumps(Part("x", "a", math.nan)))
    assert math.isnan(again.limit)


def test_a_document_says_its_schema_first_and_its_fields_under_their_names() -> None:
    document = WHOLE.to_json(A_WHOLE)
    assert next(iter(document)) == "schema"
    assert document["count"] == 2
    assert document["pieces"][0]["schema"] == PART.schema
    assert document["pieces"][0]["limit"] == "inf"
    assert document["heat"] == 36.6
    assert document["label"] == {"label": "l"}


def test_an_older_document_is_read_and_an_unknown_field_passed_over() -> None:
    old: Json = {"schema": "passlens.test/1", "pieces": [], "kelvin": 300, "of tomorrow": 1}
    assert WHOLE.from_json(old) == Whole((), Degrees(27))


@pytest.mark.parametrize("document", [None, [], {}, {"schema": "passlens.other/1"}, {"schema": []}])
def test_another_schema_is_refused_by_name(document: object) -> None:
    with pytest.raises(StudioError, match=r"no recorded part: its schema is not passlens\.test-pa"):
        PART.from_json(document)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"name": 1}, r"\$\.name"),
        ({"name": None}, r"\$\.name"),
        ({"kind": "c"}, r"\$\.kind"),
        ({"limit": "1"}, r"\$\.limit"),
        ({"limit": True}, r"\$\.limit"),
        ({"sizes": [1, 1.5]}, r"\$\.sizes"),
        ({"sizes": "12"}, r"\$\.sizes"),
        ({"sizes": {}}, r"\$\.sizes"),
        ({"pair": [1]}, r"\$\.pair"),
    ],
)
def test_a_wrong_field_is_named_with_its_place(change: Json, place: str) -> None:
    with pytest.raises(StudioError, match=f"damaged: .*{place}"):
        PART.from_json({**PART.to_json(Part("x", "a")), **change})


def test_what_a_class_itself_says_of_a_wrong_value_is_told_with_its_place() -> None:
    document = WHOLE.to_json(A_WHOLE)
    document["pieces"][1]["schema"] = "passlens.other/1"
    with pytest.raises(StudioError, match=r"no recorded part.* @ \$\.parts\[1\]"):
        WHOLE.from_json(document)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000])
def test_text_that_is_no_json_is_damaged(data: bytes) -> None:
    with pytest.raises(StudioError, match="damaged"):
        PART.loads(data)


def test_a_format_costs_no_import_before_it_is_used() -> None:
    code = (
        "import sys; from optimizer.codec import Format; Format(int, '', ''); "
        "sys.exit('cattrs' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
