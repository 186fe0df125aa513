"""`passlens schedule --autoschedule`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from optimizer.loops.schedule import SCHEDULE, Parallel
from studio.cli import main

pytestmark = pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide")


def test_an_autoschedulers_schedule_is_shown_saved_and_applied(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mullapudi.json"
    asked = ["schedule", "tail", "--autoschedule", "Mullapudi2016", "--save", str(path)]
    assert main(asked) == 0
    found = capsys.readouterr().out
    assert "parallel i" in found
    assert any(isinstance(one, Parallel) for one in SCHEDULE.loads(path.read_bytes()).primitives)
    assert main(["schedule", "tail", "--apply", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == found.splitlines()[1:]
