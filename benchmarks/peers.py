"""What other optimizers make of a file, each in a process of its own.

`PEERS_PYTHON` names an interpreter that has them; by default this one. CPU time is that of
optimizing: without imports, reading and writing, but for ONNX Runtime, which does all in one call.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_READ, _WRITE = "model = onnx.load(source)", "onnx.save(model, target)"
_PROGRAM = """
import json, sys, time
import onnx
{imports}
source, target, kind = sys.argv[1:]
{read}
began = time.process_time()
{work}
seconds = time.process_time() - began
{write}
print(json.dumps({{"seconds": seconds}}))
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """An optimizer of another project.

    Attributes:
        package: what has to be installed for it.
        program: takes a file, the name of another one to write, and the kind of network; the
            last line that it prints is JSON.
    """

    package: str
    program: str


def _peer(package: str, work: str, *, imports: str, read: str = _READ, write: str = _WRITE) -> Peer:
    parts = {"imports": imports, "read": read, "work": work, "write": write}
    return Peer(package, _PROGRAM.format(**parts))


PEERS: Mapping[str, Peer] = {
    "onnxslim": _peer(
        "onnxslim", "model = onnxslim.slim(model)", imports="import onnxslim, onnxruntime"
    ),
    "onnxsim": _peer(
        "onnxsim", "model, _ = onnxsim.simplify(model)", imports="import onnxsim, onnxruntime"
    ),
    "onnxoptimizer": _peer(
        "onnxoptimizer",
        "model = peer.optimize(model, peer.get_fuse_and_elimination_passes(), fixed_point=True)",
        imports="import onnxoptimizer as peer",
    ),
    "onnxscript": _peer(
        "onnxscript",
        "model = onnxscript.optimizer.optimize(model)",
        imports="import onnxscript.optimizer",
    ),
}
"""Those that write standard operators."""

# It imports torch to ask for its ROCm version, and then only for a GPU.
_TRANSFORMERS = """
import importlib.util, types
if importlib.util.find_spec("torch") is None:
    sys.modules["torch"] = types.ModuleType("torch")
    sys.modules["torch"].version = types.SimpleNamespace(hip=None)
from onnxruntime.transformers import optimizer
"""
_EXTENDED = """
options = runtime.SessionOptions()
options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
options.optimized_model_filepath = target
options.log_severity_level = 4
options.intra_op_num_threads = 1
runtime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
"""
RUNTIME_PEERS: Mapping[str, Peer] = {
    "onnxruntime-extended": _peer(
        "onnxruntime", _EXTENDED, imports="import onnxruntime as runtime", read="", write=""
    ),
    "onnxscript-for-runtime": _peer(
        "onnxscript",
        "model, _ = optimize_for_ort(model)",
        imports="import onnx_ir\nfrom onnxscript.rewriter.ort_fusions import optimize_for_ort",
        read="model = onnx_ir.from_proto(onnx.load(source))",
        write="onnx.save(onnx_ir.to_proto(model), target)",
    ),
    "onnxruntime-transformers": _peer(
        "onnxruntime",
        "made = optimizer.optimize_model(source, model_type=kind)",
        imports=_TRANSFORMERS,
        read="",
        write="made.save_model_to_file(target)",
    ),
}
"""Those that write operators of ONNX Runtime, too."""

SECONDS = 600.0
_MOST = 160
_BERT = "bert"
_KINDS: Mapping[str, str] = {
    "gpt2": "gpt2", "t5": "t5", "whisper": "bart", "vit": "vit", "yolos": "vit", "swin": "swin",
    "clip": "clip", "llama": "qwen3", "tf_bert": "bert_tf",
}  # fmt: skip


def kind_of(name: str) -> str:
    """What `onnxruntime.transformers` is told that a network is, from its name."""
    words = f"_{name.lower()}"
    return next((kind for part, kind in _KINDS.items() if f"_{part}" in words), _BERT)


def peer_python() -> str:
    """The interpreter that has them."""
    return os.environ.get("PEERS_PYTHON", sys.executable)


def peers_here(peers: Mapping[str, Peer] = PEERS) -> list[str]:
    """Those that are installed there."""
    code = "import importlib.util as u, sys; print([p for p in sys.argv[1:] if u.find_spec(p)])"
    packages = {peer.package for peer in peers.values()}
    done = subprocess.run([peer_python(), "-c", code, *packages], capture_output=True, text=True)
    return [name for name, peer in peers.items() if f"'{peer.package}'" in done.stdout]


def peer_versions() -> str:
    """Packages and their versions in that interpreter."""
    code = (
        "import sys\nfrom importlib.metadata import version\n"
        "print(', '.join(f'{name} {version(name)}' for name in sys.argv[1:]))"
    )
    every = {**PEERS, **RUNTIME_PEERS}
    packages = sorted({every[name].package for name in peers_here(every)})
    done = subprocess.run([peer_python(), "-c", code, *packages], capture_output=True, text=True)
    return done.stdout.strip() or "(no peer is installed)"


def peer_command(name: str, source: Path, target: Path, *, kind: str = "") -> list[str]:
    """The command that has a peer write `target`; `kind` is read from the file's name."""
    program = {**PEERS, **RUNTIME_PEERS}[name].program
    return [peer_python(), "-c", program, str(source), str(target), kind or kind_of(source.stem)]


def peer_forms(
    source: Path, folder: Path, peers: Mapping[str, Peer] = PEERS, *, kind: str = ""
) -> Iterator[tuple[str, str]]:
    """Have every peer that is installed write `<name>.onnx`, unless that is there.

    Args:
        source: the file they get.
        folder: where they write.
        peers: which of them.
        kind: of network; read from the file's name where it is not told.

    Yields:
        A name, and why there is no file of it; empty where there is one.
    """
    for name in peers_here(peers):
        target = folder / f"{name}.onnx"
        command = peer_command(name, source, target, kind=kind)
        yield name, "" if target.exists() else run_tool(command, target)


def run_tool(command: Sequence[str], target: Path, *, seconds: float = SECONDS) -> str:
    """Have a command write a file.

    Returns:
        Why it did not; empty if it did.
    """
    return timed_tool(command, target, seconds=seconds)[1]


def timed_tool(
    command: Sequence[str], target: Path, *, seconds: float = SECONDS
) -> tuple[Mapping[str, Any], str]:
    """The same, with what it printed: JSON, all of it or the last line."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        target.unlink(missing_ok=True)
        return {}, f"more than {seconds:.0f} s"
    if done.returncode == 0 and target.exists():
        return _printed(done.stdout), ""
    target.unlink(missing_ok=True)
    last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
    return {}, f"exit {done.returncode}: {last[:_MOST]}"


def _printed(output: str) -> Mapping[str, Any]:
    try:
        return json.loads(output)
    except ValueError:
        return json.loads(output.strip().splitlines()[-1])
