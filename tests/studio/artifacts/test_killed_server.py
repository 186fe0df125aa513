"""A server that is killed while it makes something, and the next one."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

SERVER = """
import sys
from pathlib import Path

from optimizer.pipeline import Pipeline
from profiling.workers import default_pool
from studio.artifacts.store import Store
from studio.gallery import gallery

if __name__ == "__main__":
    store = Store(default_pool(), root=Path(sys.argv[1]))
    model = store.open_file(gallery.open_path("bert"), name="bert")
    print("opened", flush=True)
    run = store.run(model, Pipeline.of("default"))
    print(run.folder, flush=True)
    default_pool().close()
"""


def started(root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SERVER, str(root)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PASSLENS_CACHE": str(root / "gallery")},
    )


def wait_until(condition: Callable[[], object]) -> None:
    while not condition():
        time.sleep(0.005)


def test_what_a_killed_server_was_making_is_not_read_and_made_anew(tmp_path: Path) -> None:
    models = tmp_path / "models"

    def unfinished_runs() -> list[Path]:
        return [path for path in models.glob("*/.*~*/*") if any(path.iterdir())]

    first = started(tmp_path)
    wait_until(unfinished_runs)  # the trace is written, the steps are not
    first.send_signal(signal.SIGKILL)
    first.communicate()
    (left,) = unfinished_runs()
    assert not (left.parents[1] / left.name).exists()
    second = started(tmp_path)
    said, _ = second.communicate()
    assert second.returncode == 0
    folder = Path(said.splitlines()[-1])
    steps = json.loads(gzip.decompress((folder / "steps.json.gz").read_bytes()))
    assert steps["totals"] == json.loads((folder / "result.json").read_text())["totals"]
    assert unfinished_runs() == []
