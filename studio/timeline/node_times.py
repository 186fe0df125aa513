"""Node times for the viewer: written beside a run when some of its steps were profiled.

    models/<model key>/<run key>/times-<content key>/times.json.gz

The newest is what the viewer offers; its key is that of its content, so browsers keep it for good.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from profiling.timeline.attribution import Kernel
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store

SCHEMA = "passlens.times/1"
_FILE = "times.json.gz"
_KEY = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The operators of one step as they ran.

    Attributes:
        label: of the variant.
        first: in the first run.
        steady: medians of later runs; the same operators.
        profiler_us: what the profiler took of each operator, and was taken off; None where nothing
            was.
    """

    step: int
    label: str
    first: tuple[Kernel, ...]
    steady: tuple[Kernel, ...]
    profiler_us: float | None = None


@dataclass(frozen=True, slots=True)
class MeasuredKernel:
    """An operator that ran.

    Attributes:
        steady_us: median of later runs.
        nodes: ids of the step's nodes that it computes.
    """

    op_type: str
    steady_us: float
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasuredTimes:
    """What a profile of a step says, read again.

    Attributes:
        label: of the variant.
        profiler_us: what the profiler took of each operator, and was taken off; None where nothing
            was.
    """

    step: int
    label: str
    kernels: tuple[MeasuredKernel, ...]
    profiler_us: float | None = None


def times_json(steps: Iterable[StepTimes]) -> dict[str, Any]:
    """`passlens.times/1`: for each step its operators, and the ids of the nodes of each."""
    return {"schema": SCHEMA, "profiles": [_profile(one) for one in steps]}


def keep_times(
    store: Store, model: OpenedModel, run: OpenedRun, steps: Sequence[StepTimes]
) -> None:
    """Write them where `newest_times` finds them."""
    text = json.dumps(times_json(steps), allow_nan=False, separators=(",", ":")).encode()
    home = store.file(model.key, run.key)
    if home is None:  # the run was cleared away meanwhile
        return
    folder = home.parent / f"times-{hashlib.sha256(text).hexdigest()[:16]}"
    folder.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as draft:
        draft.write(gzip.compress(text, compresslevel=5, mtime=0))
    Path(draft.name).replace(folder / _FILE)


def newest_times(model: OpenedModel, run: OpenedRun | None) -> dict[str, str] | None:
    """Key and address of the newest times of a run, or of any run of the model."""
    place = run.folder if run is not None else model.folder
    files = place.glob(f"times-*/{_FILE}" if run is not None else f"*/times-*/{_FILE}")
    newest = max(files, key=lambda path: path.stat().st_mtime_ns, default=None)
    if newest is None:
        return None
    home, key = newest.parents[1].name, newest.parent.name.removeprefix("times-")
    return {"key": key, "url": f"/api/times/{model.key}/{home}/{key}.json"}


def times_file(store: Store, model_key: str, run_key: str, key: str) -> Path | None:
    """The file behind such an address."""
    steps = store.file(model_key, run_key)
    if steps is None or _KEY.fullmatch(key) is None:
        return None
    path = steps.parent / f"times-{key}" / _FILE
    return path if path.is_file() else None


def measured_times(run: OpenedRun, step: int) -> MeasuredTimes | None:
    """The newest times of a step that were kept with this run; None if it was never profiled."""
    files = run.folder.glob(f"times-*/{_FILE}")
    for path in sorted(files, key=lambda path: -path.stat().st_mtime_ns):
        document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
        for profile in document["profiles"]:
            if profile["step"] == step:
                kernels = tuple(
                    MeasuredKernel(op_type, steady_us, tuple(nodes))
                    for _, steady_us, op_type, nodes in profile["kernels"]
                )
                return MeasuredTimes(step, profile["label"], kernels, profile.get("profiler_us"))
    return None


def _profile(times: StepTimes) -> dict[str, Any]:
    first = {kernel.name: kernel.time_us for kernel in times.first}
    return {
        "step": times.step,
        "label": times.label,
        "profiler_us": times.profiler_us,
        "kernels": [
            [first.get(one.name, 0.0), one.time_us, one.op_type, list(one.nodes)]
            for one in times.steady
        ],
    }
