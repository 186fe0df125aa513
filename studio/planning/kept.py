"""Files beside a run in the store, made once by a worker: maps, orders, curves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from optimizer.isolation import Isolate, Progress
from optimizer.model.limits import JobLimits
from studio.store import OpenedModel, OpenedRun
from studio.whole import made_whole

FORMAT = 1
"""Part of every name: raised when the meaning of the files changes."""

_LIMITS = JobLimits(seconds=600.0)


def folder_of(run: OpenedRun, kind: str, *parts: Any) -> Path:
    """Where something of a run lies; equal parts, equal folders.

    Args:
        run: of a model in the store.
        kind: of file, for people who look into the store.
        parts: frozen dataclasses and plain data.
    """
    plain = [asdict(part) if hasattr(part, "__dataclass_fields__") else part for part in parts]
    text = json.dumps([FORMAT, kind, plain], sort_keys=True)
    return run.folder / f"memory-{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def make(
    isolate: Isolate,
    subject: tuple[OpenedModel, OpenedRun],
    job: Callable[..., None],
    wanted: Sequence[tuple[object, Path]],
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> None:
    """Run `job(model folder, run folder, [(request, folder)])` for the folders that are not there.

    Raises:
        StudioError: what the job raises, or the worker died, or it was cancelled.
    """
    model, run = subject
    missing = [(request, folder) for request, folder in wanted if not folder.is_dir()]
    if not missing:
        return
    with ExitStack() as folders:
        targets = [
            (request, folders.enter_context(made_whole(folder))) for request, folder in missing
        ]
        isolate(
            job, model.folder, run.folder, targets,
            limits=_LIMITS, progress=progress, cancelled=cancelled,
        )  # fmt: skip
