"""Buffers as a CSV file, and plans back into one: `id,lower,upper,size[,offset]`.

`lower` is the first step at which a buffer is needed, `upper` the first at which it is not; sizes
are in bytes. This is the format of MiniMalloc's benchmark.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from optimizer.errors import PlanError, quoted
from optimizer.memory.buffer import Buffer
from optimizer.numbers import bytes_text

COLUMNS = ("id", "lower", "upper", "size")
MOST_FILE_BYTES = 16 << 20
MOST_BUFFERS = 50_000
MOST_STEP = 1 << 31
MOST_SIZE_BYTES = 1 << 46
LONGEST_ID = 4096

_NUMBER = re.compile(r"-?[0-9]{1,20}", re.ASCII)


def read_intervals(path: Path) -> tuple[Buffer, ...]:
    """The buffers in a file, in its order.

    Raises:
        PlanError: it cannot be read, or a line of it makes no sense; the message has its number.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise PlanError(f"{quoted(path.name)} cannot be read: {error.strerror}.") from error
    return parse_intervals(data)


def parse_intervals(data: bytes) -> tuple[Buffer, ...]:
    """The buffers in the bytes of a file, in its order.

    Columns come in any order, others than the four are ignored; so are empty lines.

    Raises:
        PlanError: a line makes no sense; the message has its number.
    """
    if len(data) > MOST_FILE_BYTES:
        raise PlanError(f"The intervals need more than {bytes_text(MOST_FILE_BYTES)}, the limit.")
    lines = _lines(_text(data))
    number, header = next(lines, (1, [""]))
    at = _columns(header, number)
    buffers: dict[str, Buffer] = {}
    for number, cells in lines:
        if len(cells) != len(header):
            raise _wrong(number, f"{len(cells)} columns where the first line has {len(header)}")
        buffer = _buffer([cells[i] for i in at], number)
        if buffer.name in buffers:
            raise _wrong(number, f"the id {quoted(buffer.name)} is there already")
        if len(buffers) == MOST_BUFFERS:
            raise _wrong(number, f"more than {MOST_BUFFERS} buffers, the limit")
        buffers[buffer.name] = buffer
    return tuple(buffers.values())


def offsets_csv(buffers: Sequence[Buffer], offsets: Sequence[int]) -> str:
    """A plan as text; `parse_intervals` reads the buffers back."""
    out = io.StringIO()
    # the writer quotes a carriage return only where it ends lines
    odd = any("\r" in buffer.name for buffer in buffers)
    quoting = csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL
    writer = csv.writer(out, lineterminator="\n", quoting=quoting)
    writer.writerow((*COLUMNS, "offset"))
    for buffer, offset in zip(buffers, offsets, strict=True):
        writer.writerow((buffer.name, buffer.start, buffer.end, buffer.size_bytes, offset))
    return out.getvalue()


def write_offsets(path: Path, buffers: Sequence[Buffer], offsets: Sequence[int]) -> None:
    """Write a plan.

    Raises:
        PlanError: the file cannot be written.
    """
    try:
        path.write_text(offsets_csv(buffers, offsets), encoding="utf-8", newline="")
    except OSError as error:
        raise PlanError(f"{quoted(path.name)} cannot be written: {error.strerror}.") from error


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise _wrong(number, "a byte that is not UTF-8; the file has to be text") from error


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of each line that has any."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise _wrong(max(1, reader.line_num), f"not CSV ({error})") from error


def _columns(header: list[str], number: int) -> list[int]:
    """Where the four columns stand."""
    for column in COLUMNS:
        if header.count(column) != 1:
            count = "no" if column not in header else "more than one"
            wanted = ",".join(COLUMNS)
            raise _wrong(number, f"{count} column {quoted(column)}; a file starts with {wanted}")
    return [header.index(column) for column in COLUMNS]


def _buffer(cells: list[str], number: int) -> Buffer:
    name = cells[0]
    if not name or len(name) > LONGEST_ID:
        raise _wrong(number, f"an id of {len(name)} characters; it may have 1 to {LONGEST_ID}")
    lower = _integer("lower", cells[1], MOST_STEP, number)
    upper = _integer("upper", cells[2], MOST_STEP, number)
    size_bytes = _integer("size", cells[3], MOST_SIZE_BYTES, number)
    if lower >= upper:
        raise _wrong(
            number, f"lower {lower} is not below upper {upper}; a buffer lives [lower, upper)"
        )
    return Buffer(name, size_bytes, lower, upper)


def _integer(column: str, text: str, most: int, number: int) -> int:
    if not _NUMBER.fullmatch(text) or not 0 <= int(text) <= most:
        wanted = f"a whole number from 0 to {most}"
        raise _wrong(number, f"{column} is {quoted(text)}, not {wanted}")
    return int(text)


def _wrong(number: int, what: str) -> PlanError:
    return PlanError(f"Line {number} of the intervals: {what}.")
