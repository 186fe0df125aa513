"""Schedules as files."""

from __future__ import annotations

import pytest

from optimizer.errors import StudioError
from optimizer.loops.schedule import (
    SCHEDULE,
    ComputeAt,
    Parallel,
    Reorder,
    Schedule,
    Split,
    Vectorize,
)


def test_a_schedule_is_a_list_of_named_primitives_and_reads_back() -> None:
    schedule = Schedule(
        (
            Split("y", "k", "ko", "ki", 16),
            Reorder("y", ("n", "ko", "ki")),
            Vectorize("y", "ki"),
            ComputeAt("total", "y", "n"),
            Parallel("y", "n"),
        )
    )
    document = SCHEDULE.to_json(schedule)
    assert document["schema"] == "passlens.schedule/1"
    assert [one["primitive"] for one in document["primitives"]] == [  # pyright: ignore[reportGeneralTypeIssues, reportIndexIssue, reportUnknownVariableType] - plain data
        "split", "reorder", "vectorize", "compute_at", "parallel",
    ]  # fmt: skip
    assert SCHEDULE.from_json(document) == schedule


def test_a_primitive_that_does_not_exist_is_refused() -> None:
    document = {"schema": "passlens.schedule/1", "primitives": [{"primitive": "teleport"}]}
    with pytest.raises(StudioError, match="This schedule is damaged"):
        SCHEDULE.from_json(document)
