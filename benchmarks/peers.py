"""What other optimizers make of a file, each in a process of its own.

`PEERS_PYTHON` names an interpreter that has them; by default this one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_LOAD = "import sys, onnx\nmodel = onnx.load(sys.argv[1])\n"
_SAVE = "\nonnx.save(model, sys.argv[2])\n"
PEERS: Mapping[str, str] = {
    "onnxslim": f"{_LOAD}import onnxslim\nmodel = onnxslim.slim(model){_SAVE}",
    "onnxsim": f"{_LOAD}import onnxsim\nmodel, _ = onnxsim.simplify(model){_SAVE}",
    "onnxoptimizer": (
        f"{_LOAD}import onnxoptimizer as peer\n"
        f"model = peer.optimize(model, peer.get_fuse_and_elimination_passes()){_SAVE}"
    ),
    "onnxscript": (
        f"{_LOAD}import onnxscript.optimizer\nmodel = onnxscript.optimizer.optimize(model){_SAVE}"
    ),
}
"""Programs that take a file and write another one."""

SECONDS = 600.0
_MOST = 160


def peer_python() -> str:
    """The interpreter that has them."""
    return os.environ.get("PEERS_PYTHON", sys.executable)


def peers_here() -> list[str]:
    """Those that are installed there."""
    code = "import importlib.util as u, sys; print([p for p in sys.argv[1:] if u.find_spec(p)])"
    done = subprocess.run([peer_python(), "-c", code, *PEERS], capture_output=True, text=True)
    return [name for name in PEERS if f"'{name}'" in done.stdout]


def peer_forms(source: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Have every peer that is installed write `<name>.onnx`, unless that is there.

    Args:
        source: the file they get.
        folder: where they write.

    Yields:
        A name, and why there is no file of it; empty where there is one.
    """
    for name in peers_here():
        target = folder / f"{name}.onnx"
        yield name, "" if target.exists() else _run(name, source, target)


def _run(name: str, source: Path, target: Path) -> str:
    command = [peer_python(), "-c", PEERS[name], str(source), str(target)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        target.unlink(missing_ok=True)
        return f"more than {SECONDS:.0f} s"
    if done.returncode == 0 and target.exists():
        return ""
    target.unlink(missing_ok=True)
    last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
    return f"exit {done.returncode}: {last[:_MOST]}"
