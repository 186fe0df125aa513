"""What the tests of sessions run in workers."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from profiling.config import RunConfig
from profiling.execution.fingerprint import fingerprint
from profiling.execution.session import open_session, session_options

Output = np.ndarray[Any, Any]


def outputs(model: Path, config: RunConfig, runs: int = 2) -> list[Output]:
    """What the model computes of fixed inputs, the last of `runs` times."""
    session = open_session(model, config)
    found: list[Output] = []
    for _ in range(runs):
        found = session.run(None, _feeds(session))
    return found


def operators_left(model: Path, config: RunConfig) -> list[str]:
    """Operators of the graph that the runtime would run."""
    import onnxruntime

    ort: Any = onnxruntime
    options = session_options(ort, config)
    options.optimized_model_filepath = "optimized.onnx"
    ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return [node.op_type for node in onnx.load("optimized.onnx").graph.node]


def processors_of_threads(model: Path, config: RunConfig) -> set[str]:
    """Processors that single threads may use, once one of them may not use all."""
    session = open_session(model, config)
    session.run(None, _feeds(session))
    everywhere = _threads()[str(os.getpid())]
    for _ in range(100):  # a thread pins itself when it gets to run
        pinned = set(_threads().values()) - {everywhere}
        if pinned:
            return pinned
        time.sleep(0.05)
    return set()


def most_held_bytes(model: Path, config: RunConfig) -> int:
    """The most memory that the arena held during one run."""
    session = open_session(model, config, profile_prefix="profile")
    session.run(None, _feeds(session))
    events = json.loads(Path(session.end_profiling()).read_text())
    held = [event.get("args", {}).get("mem_arena_held", 0) for event in events]
    return max(map(int, held))


def attribute_names() -> list[str]:
    """All attributes of the runtime's `SessionOptions`."""
    import onnxruntime

    return dir(onnxruntime.SessionOptions)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - untyped


def _threads() -> dict[str, str]:
    found: dict[str, str] = {}
    for folder in Path("/proc/self/task").iterdir():
        lines = (folder / "status").read_text().splitlines()
        listed = next(line for line in lines if line.startswith("Cpus_allowed_list:"))
        found[folder.name] = listed.split()[1]
    return found


def _feeds(session: Any) -> dict[str, Output]:
    generator = np.random.default_rng(0)
    return {
        item.name: generator.standard_normal(
            [size if isinstance(size, int) else 2 for size in item.shape]
        ).astype(np.float32)
        for item in session.get_inputs()
    }


def fingerprint_of_weights(folder: Path, count: int) -> str:
    """Hash of a graph with weights that lie one after another in a file `weights`."""
    graph = ir.Graph([], [], nodes=[])
    for number in range(count):
        weight = ir.ExternalTensor(
            "weights", 1024 * number, 1024, ir.DataType.FLOAT,
            shape=ir.Shape([256]), name=f"w{number}", base_dir=folder,
        )  # fmt: skip
        graph.register_initializer(
            ir.Value(name=weight.name, shape=weight.shape, const_value=weight)
        )
    return fingerprint(graph)
