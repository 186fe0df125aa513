from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.errors import PlanError
from optimizer.memory import intervals
from optimizer.memory.buffer import Buffer
from optimizer.memory.intervals import (
    offsets_csv,
    parse_intervals,
    read_intervals,
    write_offsets,
)

HEADER = b"id,lower,upper,size\n"


def test_lines_become_buffers_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_bytes(HEADER + b"b,0,3,4\na,3,9,0\n")
    assert read_intervals(path) == (Buffer("b", 4, 0, 3), Buffer("a", 0, 3, 9))


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfid,lower,upper,size\r\na,1,2,3\r\n",
        b"\n\nid,lower,upper,size\n\n , ,,\na,1,2,3\n\n",
        b" id , lower,upper , size\n a, 1 ,2,3",
        b'size,id,note,upper,lower\n3,a,"x, y",2,1\n',
        b"id,lower,upper,size,offset\ra,1,2,3,64\r",
    ],
    ids=["BOM and CRLF", "blank lines", "spaces", "other order", "offsets and CR"],
)
def test_harmless_variants_are_read(data: bytes) -> None:
    assert parse_intervals(data) == (Buffer("a", 3, 1, 2),)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "Line 1 .* no column 'id'"),
        (b"\x00\xff\xfe", "Line 1 .* not UTF-8"),
        (HEADER + b"a,0,1,\xff\n", "Line 2 .* not UTF-8"),
        (b"name,lower,upper,size\na,0,1,1\n", "Line 1 .* no column 'id'"),
        (b"id,id,lower,upper,size\n", "Line 1 .* more than one column 'id'"),
        (HEADER + b"a,0,1\n", "Line 2 .* 3 columns where the first line has 4"),
        (HEADER + b"a,0,1,2,3\n", "Line 2 .* 5 columns"),
        (HEADER + b"\na,0,1,1\n\nb,0,1,-4\n", "Line 5 .* size is '-4', not a whole number"),
        (HEADER + b"a,-1,1,1\n", "Line 2 .* lower is '-1'"),
        (HEADER + b"a,3,3,1\n", "Line 2 .* lower 3 is not below upper 3"),
        (HEADER + b"a,4,3,1\n", "Line 2 .* lower 4 is not below upper 3"),
        (HEADER + b"a,0,1,1\na,2,3,1\n", "Line 3 .* id 'a' is there already"),
        (HEADER + b",0,1,1\n", "Line 2 .* id of 0 characters"),
        (HEADER + b"a,0,1,four\n", "Line 2 .* size is 'four'"),
        (HEADER + b"a,0,1,1.5\n", "Line 2 .* size is '1.5'"),
        (HEADER + b"a,0,1,1e9\n", "Line 2 .* size is '1e9'"),
        (HEADER + b"a,0,1,1_0\n", "Line 2 .* size is '1_0'"),
        (HEADER + "a,0,1,٣\n".encode(), "Line 2 .* size is '٣'"),
        (HEADER + b"a,0,1,nan\n", "Line 2 .* size is 'nan'"),
        (HEADER + b"a,0,1,70368744177665\n", "Line 2 .* from 0 to 70368744177664"),
        (HEADER + b"a,0,2147483649,1\n", "Line 2 .* upper is '2147483649'"),
        (HEADER + b"a,0,1," + b"9" * 9000 + b"\n", "Line 2 .* size is '9999"),
        (HEADER + b'"a,0,1,1\n', "Line 2 .* not CSV"),
        (HEADER + b"a" * 5000 + b",0,1,1\n", "Line 2 .* id of 5000 characters"),
        (HEADER + b"a" * 200_000 + b",0,1,1\n", "Line 2 .* not CSV"),
    ],
)
def test_nonsense_is_answered_with_its_line_in_one_sentence(data: bytes, words: str) -> None:
    with pytest.raises(PlanError, match=words) as caught:
        parse_intervals(data)
    assert len(caught.value.message) < 250
    assert "\n" not in caught.value.message


def test_too_many_buffers_and_too_large_files_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = HEADER + b"".join(b"%d,0,1,1\n" % i for i in range(4))
    monkeypatch.setattr(intervals, "MOST_BUFFERS", 4)
    assert len(parse_intervals(lines)) == 4
    monkeypatch.setattr(intervals, "MOST_BUFFERS", 3)
    with pytest.raises(PlanError, match=r"Line 5 .* more than 3 buffers"):
        parse_intervals(lines)
    with pytest.raises(PlanError, match="16 MiB"):
        parse_intervals(b" " * (16 << 20) + b"  ")


def test_files_that_cannot_be_read_or_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"'none\.csv' cannot be read: No such file"):
        read_intervals(tmp_path / "none.csv")
    with pytest.raises(PlanError, match="cannot be read: Is a directory"):
        read_intervals(tmp_path)
    with pytest.raises(PlanError, match="cannot be written"):
        write_offsets(tmp_path, [], [])


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1).filter(
                lambda text: text == text.strip()
            ),
            st.integers(0, intervals.MOST_SIZE_BYTES),
            st.integers(0, 99),
            st.integers(1, 99),
        ),
        unique_by=lambda drawn: drawn[0],
    )
)
def test_what_is_written_is_read_back(drawn: list[tuple[str, int, int, int]]) -> None:
    buffers = tuple(Buffer(name, size, start, start + n) for name, size, start, n in drawn)
    assert parse_intervals(offsets_csv(buffers, [0] * len(buffers)).encode()) == buffers


def test_a_plan_is_written_beside_its_buffers(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_offsets(path, [Buffer("a,b", 3, 1, 2)], [64])
    assert path.read_bytes() == b'id,lower,upper,size,offset\n"a,b",1,2,3,64\n'
