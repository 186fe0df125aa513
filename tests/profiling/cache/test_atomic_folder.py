from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from optimizer.errors import Cancelled
from profiling.cache.atomic_folder import obtain
from profiling.cache.file_lock import try_lock

MAKE_SLOWLY = """
import sys, time
from pathlib import Path
from profiling.cache.atomic_folder import obtain

here = Path(sys.argv[1])

def make(draft):
    (draft / "first").write_text("half")
    with (here / "making").open("a") as file:
        file.write("made\\n")
    while not (here / "go on").exists():
        time.sleep(0.01)
    (draft / "second").write_text("whole")

obtain(here / "thing", make)
"""


def started(here: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", MAKE_SLOWLY, str(here)])


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


def write_both(draft: Path) -> None:
    (draft / "first").write_text("half")
    (draft / "second").write_text("whole")


def hidden(here: Path) -> list[str]:
    return [path.name for path in here.glob(".*")]


def test_two_processes_that_want_the_same_make_it_once(tmp_path: Path) -> None:
    both = [started(tmp_path), started(tmp_path)]
    wait_until((tmp_path / "making").exists)
    (tmp_path / "go on").touch()
    assert [process.wait() for process in both] == [0, 0]
    assert (tmp_path / "making").read_text() == "made\n"
    assert (tmp_path / "thing" / "second").read_text() == "whole"
    assert hidden(tmp_path) == []


def test_what_a_killed_process_left_is_not_read_and_made_anew(tmp_path: Path) -> None:
    process = started(tmp_path)
    wait_until((tmp_path / "making").exists)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "thing").exists()
    assert any("~" in name for name in hidden(tmp_path))  # what it left
    assert obtain(tmp_path / "thing", write_both)
    assert (tmp_path / "thing" / "second").read_text() == "whole"
    assert hidden(tmp_path) == []


def test_two_threads_that_want_the_same_make_it_once(tmp_path: Path) -> None:
    made: list[bool] = []
    go_on = threading.Event()

    def make(draft: Path) -> None:
        go_on.wait()
        write_both(draft)

    threads = [
        threading.Thread(target=lambda: made.append(obtain(tmp_path / "thing", make)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join()
    assert sorted(made) == [False, True]


def test_whoever_waits_for_another_can_give_up_and_says_what_for(tmp_path: Path) -> None:
    lock = try_lock(tmp_path / ".thing.lock")
    assert lock is not None
    told: list[str] = []
    with pytest.raises(Cancelled):
        obtain(
            tmp_path / "thing", write_both,
            progress=lambda text, _: told.append(text), cancelled=lambda: True,
        )  # fmt: skip
    assert told == ["waiting for whoever is making the same"]
    lock.release()
    assert obtain(tmp_path / "thing", write_both, cancelled=lambda: True)


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(draft: Path) -> None:
        (draft / "first").write_text("half")
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        obtain(tmp_path / "thing", fail)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_as_it_should_be_gives_way_to_the_new(tmp_path: Path) -> None:
    thing = tmp_path / "thing"
    obtain(thing, lambda draft: (draft / "old").touch())
    assert obtain(thing, write_both, complete=lambda folder: (folder / "second").exists())
    assert sorted(path.name for path in thing.iterdir()) == [".used", "first", "second"]


def test_a_lock_shared_by_two_is_nobodys_alone_until_both_gave_it_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first, second = try_lock(path, shared=True), try_lock(path, shared=True)
    assert first is not None
    assert second is not None
    first.release()
    assert path.exists()
    assert try_lock(path) is None
    second.release()
    assert not path.exists()
    alone = try_lock(path)
    assert alone is not None
    assert try_lock(path, shared=True) is None
    alone.release()
    assert list(tmp_path.iterdir()) == []
