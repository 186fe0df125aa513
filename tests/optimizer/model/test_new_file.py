"""A file that is written appears whole or not at all."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from optimizer.errors import StudioError
from optimizer.model import new_file
from optimizer.model.new_file import check_room, replacement

KILLED = """
import os, signal, sys
from pathlib import Path
from optimizer.model.new_file import replacement
with replacement(Path(sys.argv[1])) as target:
    target.write(b"half")
    target.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_while_it_writes_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"old")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [one.name for one in tmp_path.iterdir()] == ["m.onnx"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("nameless", [True, False])
def test_what_is_complete_takes_the_place_of_what_was_there(
    nameless: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not nameless:
        monkeypatch.setattr(new_file.os, "O_TMPFILE", 0)
    path = tmp_path / "m.onnx"
    path.write_bytes(b"old")
    with replacement(path) as target:
        target.write(b"new")
    assert path.read_bytes() == b"new"
    assert [one.name for one in tmp_path.iterdir()] == ["m.onnx"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_disk_that_is_full_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        with (
            pytest.raises(StudioError, match=r"Cannot write .*Free some, or write elsewhere\.$"),
            replacement(tmp_path / "m.onnx") as target,
        ):
            target.write(bytes(1 << 17))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_too_little_room_is_said_before_anything_is_written(tmp_path: Path) -> None:
    check_room(tmp_path, 1)
    with pytest.raises(StudioError, match=r"The model takes [0-9.]+ .iB, and .* has .* left"):
        check_room(tmp_path, 1 << 60)
