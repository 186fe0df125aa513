"""Opened models and their traces on disk, by content hash, shared by every browser session.

    models/<model key>/            source.onnx[.data]  graph.json.gz  summary.json
    models/<model key>/<run key>/  steps.json.gz  trace.zip  result.json

Folders are made beside their place and moved in whole, so a folder that exists is complete.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optimizer.errors import StudioError, WorkerCrashed, quoted
from optimizer.isolation import Isolate, Progress
from optimizer.model.limits import JobLimits
from optimizer.pipeline import Pipeline
from optimizer.verify import verify
from studio.artifacts import jobs
from studio.artifacts.cache_folder import cache_folder
from studio.artifacts.code_version import code_version
from studio.commands.verify import verdict_text
from studio.numbers import counted
from studio.whole import made_whole

FORMAT = "1"
"""Part of every key: raised when the files' meaning changes."""

_KEY = re.compile(r"[0-9a-f]{16}")
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model in the store."""

    key: str
    folder: Path
    summary: dict[str, Any]


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """One run of a pipeline over a model in the store."""

    key: str
    folder: Path
    result: dict[str, Any]


class Store:
    """The folder of models and runs."""

    def __init__(self, isolate: Isolate, *, root: Path | None = None) -> None:
        self._isolate = isolate
        self.root = root or cache_folder()

    def open_file(
        self,
        path: Path,
        *,
        name: str,
        bind: dict[str, int] | None = None,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> OpenedModel:
        """Open a model file of this machine.

        Raises:
            StudioError: it cannot be opened.
        """
        if not path.is_file():
            raise StudioError(f"There is no file {quoted(str(path))} on this machine.")
        mark = path.stat()
        side = sorted((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in _beside(path))
        key = _key(str(path.resolve()), mark.st_size, mark.st_mtime_ns, side, bind or {}, name)
        request = jobs.OpenRequest(key, name, path, None, bind or {})
        return self._opened(request, progress, cancelled)

    def open_upload(
        self,
        files: dict[str, bytes],
        *,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> OpenedModel:
        """Open an uploaded model, with its side files when there are several.

        Raises:
            StudioError: no file or more than one looks like the model, or it cannot be opened.
        """
        name = _model_file(files)
        hashes = {n: hashlib.sha256(data).hexdigest() for n, data in sorted(files.items())}
        with tempfile.TemporaryDirectory(prefix="passlens-upload-") as folder:
            paths: dict[str, Path] = {}
            for index, (label, data) in enumerate(files.items()):
                paths[label] = Path(folder) / f"{index}.bin"  # never the visitor's own name
                paths[label].write_bytes(data)
            request = jobs.OpenRequest(_key(hashes, name), name, paths.pop(name), paths, {})
            return self._opened(request, progress, cancelled)

    def model(self, key: str) -> OpenedModel | None:
        """A model that is already here."""
        folder = self._model_folder(key)
        if folder is None or not folder.is_dir():
            return None
        return OpenedModel(key, folder, json.loads((folder / jobs.SUMMARY).read_text()))

    def run(
        self,
        model: OpenedModel,
        pipeline: Pipeline,
        *,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> OpenedRun:
        """Run a pipeline over a model, or find the run that was made before.

        Raises:
            StudioError: the model may not be optimized.
        """
        key = run_key(pipeline)
        folder = model.folder / key
        optimizable = model.summary["statuses"]["optimizable"]
        if not optimizable["ok"]:
            raise StudioError(optimizable["reason"])
        if not folder.is_dir():
            with made_whole(folder) as target:
                self._isolate(
                    jobs.rewrite_model,
                    model.folder,
                    target,
                    pipeline.to_json(),
                    progress=progress,
                    cancelled=cancelled,
                )
        return OpenedRun(key, folder, json.loads((folder / jobs.RESULT).read_text()))

    def materialize(self, model: OpenedModel, run: OpenedRun, step: int) -> Path:
        """The ONNX file of a step, made on first use.

        Raises:
            StudioError: there is no such step.
        """
        target = run.folder / f"step-{step}" / f"step-{step}.onnx"
        if not target.is_file():
            with made_whole(target.parent) as folder:
                trace = run.folder / jobs.TRACE
                self._isolate(jobs.materialize, model.folder, trace, step, folder / target.name)
        return target

    def verified(
        self,
        model: OpenedModel,
        run: OpenedRun,
        *,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> dict[str, str]:
        """Whether the optimized model computes what the source does: `{verdict, text}`.

        Raises:
            StudioError: the last step cannot be written.
        """
        target = run.folder / "verified" / "verified.json"
        if not target.is_file():
            last = self.materialize(model, run, run.result["steps"])
            checked = verify(
                model.folder / jobs.SOURCE,
                last,
                isolate=self._isolate,
                exact=run.result["exact"],
                progress=progress,
                cancelled=cancelled,
            )
            with made_whole(target.parent) as folder:
                found = {"verdict": checked.verdict, "text": verdict_text(checked)}
                (folder / target.name).write_text(json.dumps(found))
        return json.loads(target.read_text())

    def trace(self, model: OpenedModel, run: OpenedRun) -> Path:
        """The whole trace, source included, as one file; made on first use."""
        target = run.folder / "export" / "run.trace"
        if not target.is_file():
            with made_whole(target.parent) as folder:
                trace = run.folder / jobs.TRACE
                self._isolate(jobs.export_trace, model.folder, trace, folder / target.name)
        return target

    def picture(self, model: OpenedModel, run: OpenedRun, view: jobs.PictureRequest) -> Path:
        """A picture of a step; made on first use.

        Raises:
            StudioError: it has too many boxes, or `dot` is missing or does not finish.
        """
        key = _key(view.step, view.open)
        target = run.folder / f"picture-{key}-{view.format}" / f"step-{view.step}.{view.format}"
        if not target.is_file():
            with made_whole(target.parent) as folder:
                self._isolate(
                    jobs.picture,
                    model.folder,
                    run.folder / jobs.TRACE,
                    view,
                    folder / target.name,
                    limits=JobLimits(seconds=60),
                )
        return target

    def file(self, model_key: str, run: str | None = None) -> Path | None:
        """The drawing of a model, or the steps of a run, for the HTTP routes."""
        folder = self._model_folder(model_key)
        if folder is None or (run is not None and _KEY.fullmatch(run) is None):
            return None
        path = folder / jobs.GRAPH if run is None else folder / run / jobs.STEPS
        return path if path.is_file() else None

    def _model_folder(self, key: str) -> Path | None:
        return self.root / "models" / key if _KEY.fullmatch(key) else None

    def _opened(
        self, request: jobs.OpenRequest, progress: Progress | None, cancelled: Cancelled | None
    ) -> OpenedModel:
        known = self.model(request.key)
        if known is not None and known.summary.get("code") == code_version():
            return known
        folder = self.root / "models" / request.key
        with made_whole(folder, anew=known is not None) as target:
            try:
                self._isolate(
                    jobs.open_model, request, target, progress=progress, cancelled=cancelled
                )
            except WorkerCrashed:  # the native part, most likely: do without it
                again = replace(request, native=False)
                self._isolate(
                    jobs.open_model, again, target, progress=progress, cancelled=cancelled
                )
        opened = self.model(request.key)
        assert opened is not None
        return opened


def run_key(pipeline: Pipeline) -> str:
    """The name of a run: equal pipelines, equal names."""
    return _key(pipeline.to_json(), code_version())


def _key(*parts: object) -> str:
    text = json.dumps([FORMAT, *parts], sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _beside(path: Path) -> Iterator[Path]:
    """Files that may hold the model's weights: their change must be noticed."""
    for other in path.parent.glob("*"):
        if other.suffix in {".data", ".bin", ".weights"} and other.is_file():
            yield other


def looks_like_a_model(name: str) -> bool:
    """By a file's name."""
    return name.lower().endswith(".onnx")


def _model_file(files: dict[str, bytes]) -> str:
    """Which of several uploaded files is the model.

    Raises:
        StudioError: none or several could be.
    """
    models = [name for name in files if looks_like_a_model(name)]
    if len(files) == 1:
        return next(iter(files))
    if len(models) == 1:
        return models[0]
    if not models:
        raise StudioError("None of these files ends in '.onnx'; add the model itself.")
    names = ", ".join(quoted(name) for name in models[:3])
    raise StudioError(f"{counted(len(models), 'model')} at once ({names}); open one at a time.")
