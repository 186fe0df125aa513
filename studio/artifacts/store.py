"""Opened models, their runs and what is made of these, by content hash, for every browser session.

    models/<model key>/                            source.onnx[.data]  graph.json.gz  summary.json
    models/<model key>/<run key>/                  steps.json.gz  trace.zip  result.json
    models/<model key>/<run key>/<kind>-<key>/     what an `Artifact` of that kind made

A folder that exists is complete; what is not there is made by whoever wants it first, and may be
gone again when the cache is full. More than 1 GiB in data files is not copied: `linked-*.data` are
links to them, good as long as they are as they were. A model stays as long as an `OpenedModel` or
`OpenedRun` of it is held anywhere.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar, Unpack

from optimizer.codec import Format
from optimizer.errors import StudioError, WorkerCrashed, quoted
from optimizer.isolation import Following, Isolate
from optimizer.limits import JobLimits
from optimizer.pipeline import Pipeline
from optimizer.rewrite.graph_at import TraceFiles
from optimizer.verify import LOSSY, verify
from optimizer.versions import tool_version
from profiling.cache.atomic_folder import mark_used, obtain, remove_folder
from profiling.cache.folder import cache_folder
from studio.artifacts import jobs
from studio.artifacts.artifact import Artifact, Value
from studio.artifacts.code_version import code_version
from studio.artifacts.contents import KEY, MODELS, pin, shrink
from studio.artifacts.model_files import key_of, model_among, side_files
from studio.artifacts.opened import (
    RESULT_FORM,
    SOURCE,
    OpenedModel,
    OpenedRun,
    Pin,
    Subject,
    Verified,
)
from studio.graphview.summary import SUMMARY, ModelSummary

Request = TypeVar("Request")
Result = TypeVar("Result")


_FOREIGN = JobLimits(seconds=1200)
"""Of a run in which other projects' optimizers have their say, too."""
VERIFIED = Value(Format(Verified, "passlens.verified/1", "verification"))

_SIDES = (
    (
        "The second model crashes where the first one runs",
        "The rewritten model crashes where the source runs",
    ),
    ("The second model", "The rewritten model"),
    ("The first model", "The source"),
)


class Store:
    """The folder of models and runs."""

    def __init__(
        self,
        isolate: Isolate,
        *,
        root: Path | None = None,
        let_go: Callable[[], None] | None = None,
    ) -> None:
        """A store.

        Args:
            isolate: runs what it has to make.
            root: its folder; the cache by default.
            let_go: called when the cache is full, to give up what was opened and nobody looks at.
        """
        self._isolate = isolate
        self._let_go = let_go
        self.root = root or cache_folder()
        self._pins = weakref.WeakValueDictionary[str, Pin]()
        self._pinning = threading.Lock()

    def open_file(
        self,
        path: Path,
        *,
        name: str,
        bind: dict[str, int] | None = None,
        **following: Unpack[Following],
    ) -> OpenedModel:
        """Open a model file of this machine.

        Raises:
            StudioError: it cannot be opened.
        """
        if not path.is_file():
            raise StudioError(f"There is no file {quoted(path)} on this machine.")
        mark = path.stat()
        side = sorted((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in side_files(path))
        key = key_of(str(path.absolute()), mark.st_size, mark.st_mtime_ns, side, bind or {}, name)
        request = jobs.OpenRequest(key, name, path, None, bind or {})
        return self._opened(request, following)

    def open_upload(
        self,
        files: dict[str, bytes],
        **following: Unpack[Following],
    ) -> OpenedModel:
        """Open an uploaded model, with its side files when there are several.

        Raises:
            StudioError: no file or more than one looks like the model, or it cannot be opened.
        """
        name = model_among(files)
        hashes = {n: hashlib.sha256(data).hexdigest() for n, data in sorted(files.items())}
        with tempfile.TemporaryDirectory(prefix="passlens-upload-") as folder:
            paths: dict[str, Path] = {}
            for index, (label, data) in enumerate(files.items()):
                paths[label] = Path(folder) / f"{index}.bin"  # never the visitor's own name
                paths[label].write_bytes(data)
            request = jobs.OpenRequest(key_of(hashes, name), name, paths.pop(name), paths, {})
            return self._opened(request, following)

    def model(self, key: str) -> OpenedModel | None:
        """A model that is already here."""
        folder = self._model_folder(key)
        if folder is None or not folder.is_dir():
            return None
        held = self._pin(folder)
        try:
            summary = _summary(folder)
        except FileNotFoundError:  # it was being removed
            return None
        return OpenedModel(key, folder, summary, held)

    def run(
        self,
        model: OpenedModel,
        pipeline: Pipeline,
        **following: Unpack[Following],
    ) -> OpenedRun:
        """Run a pipeline over a model, or find the run that was made before.

        Raises:
            StudioError: the model may not be optimized.
        """
        key = run_key(pipeline)
        folder = model.folder / key
        optimizable = model.summary.statuses.optimizable
        if not optimizable.ok:
            raise StudioError(optimizable.reason)

        def make(draft: Path) -> None:
            foreign = any(planned.family == "imported" for planned in pipeline.passes)
            self._isolate(
                jobs.rewrite_model, model.folder, draft, pipeline.to_json(),
                limits=_FOREIGN if foreign else JobLimits(), affinity=_name(folder), **following,
            )  # fmt: skip

        self._obtain(folder, make, following)
        return OpenedRun(
            key, folder, RESULT_FORM.loads((folder / jobs.RESULT).read_bytes()), model.pin
        )

    def known_run(self, model: OpenedModel, key: str) -> OpenedRun | None:
        """A run that is already here."""
        folder = model.folder / key
        if KEY.fullmatch(key) is None or not (folder / jobs.RESULT).is_file():
            return None
        result = RESULT_FORM.loads((folder / jobs.RESULT).read_bytes())
        return OpenedRun(key, folder, result, model.pin)

    def get(
        self,
        artifact: Artifact[Request, Result],
        subject: Subject,
        request: Request,
        **following: Unpack[Following],
    ) -> Result:
        """What an artifact of a run is for a request; a worker makes it on first use.

        Raises:
            StudioError: what the worker raises, or it died, or it is no longer wanted.
        """
        files, affinity = subject[1].files, _name(subject[1].folder)

        def make(draft: Path) -> None:
            self._isolate(
                artifact.job(), files, artifact.relevant(request), draft,
                limits=artifact.limits, affinity=affinity, **following,
            )  # fmt: skip

        folder = subject[1].folder / artifact.name(request)
        return self._read(folder, make, lambda: artifact.read(folder, request), following)

    def has(self, artifact: Artifact[Request, Result], subject: Subject, request: Request) -> bool:
        """Whether it was made before."""
        return (subject[1].folder / artifact.name(request)).is_dir()

    def prepare(
        self,
        job: Callable[[TraceFiles, Request], Result],
        run: OpenedRun,
        request: Request,
        **following: Unpack[Following],
    ) -> Result:
        """Do something ahead, with the trace of a run, in the worker that will be asked about it.

        Raises:
            StudioError: as the job says.
        """
        return self._isolate(job, run.files, request, affinity=_name(run.folder), **following)

    def materialize(self, model: OpenedModel, run: OpenedRun, step: int) -> Path:
        """The ONNX file of a step, made on first use.

        Raises:
            StudioError: there is no such step.
        """
        return self.get(jobs.STEP, (model, run), step)

    def verified(
        self,
        model: OpenedModel,
        run: OpenedRun,
        **following: Unpack[Following],
    ) -> Verified:
        """Whether the optimized model computes what the source does.

        Raises:
            StudioError: the last step cannot be written.
        """

        def make(draft: Path) -> None:
            if not run.result.steps:
                VERIFIED.write(draft, Verified("equal", "Nothing was rewritten: it is the source."))
                return
            checked = verify(
                model.folder / SOURCE,
                self.materialize(model, run, run.result.steps),
                isolate=self._isolate,
                exact=run.result.exact,
                budget=LOSSY if run.result.lossy else None,
                **following,
            )
            VERIFIED.write(draft, Verified(checked.verdict, _of_rewriting(str(checked))))

        folder = run.folder / "verified-2"
        return self._read(folder, make, lambda: VERIFIED.read(folder, None), following)

    def file(self, model_key: str, run: str | None = None) -> Path | None:
        """The drawing of a model, or the steps of a run, for the HTTP routes."""
        folder = self._model_folder(model_key)
        if folder is None or (run is not None and KEY.fullmatch(run) is None):
            return None
        path = folder / jobs.GRAPH if run is None else folder / run / jobs.STEPS
        return path if path.is_file() else None

    def _model_folder(self, key: str) -> Path | None:
        return self.root / MODELS / key if KEY.fullmatch(key) else None

    def _opened(self, request: jobs.OpenRequest, following: Following) -> OpenedModel:
        folder = self.root / MODELS / request.key
        held = self._pin(folder)

        def make(draft: Path) -> None:
            work = partial(self._isolate, **following)
            try:
                work(jobs.open_model, request, draft)
            except WorkerCrashed:  # the native part, most likely: do without it
                work(jobs.open_model, replace(request, native=False), draft)

        self._obtain(folder, make, following, complete=_is_current)
        return OpenedModel(request.key, folder, _summary(folder), held)

    def _read(
        self,
        folder: Path,
        make: Callable[[Path], None],
        read: Callable[[], Result],
        following: Following,
    ) -> Result:
        """What lies in a folder, made if it is not there, and anew if it cannot be read."""
        self._obtain(folder, make, following)
        try:
            return read()
        except StudioError:  # damaged on the disk, or of an older form
            remove_folder(folder)
            self._obtain(folder, make, following)
            return read()

    def _obtain(
        self,
        folder: Path,
        make: Callable[[Path], None],
        following: Following,
        *,
        complete: Callable[[Path], bool] = Path.is_dir,
    ) -> None:
        """Have it made if it is not there, and note that it and what it lies in are used."""
        made = obtain(folder, make, complete=complete, **following)
        for around in folder.relative_to(self.root / MODELS).parents[:-1]:
            mark_used(self.root / MODELS / around)
        if made and shrink(self.root).over_bytes and self._let_go is not None:
            self._let_go()
            shrink(self.root)

    def _pin(self, folder: Path) -> Pin | None:
        """What keeps a model here; None while it is being removed."""
        with self._pinning:
            held = self._pins.get(folder.name)
            if held is None:
                lock = pin(folder)
                if lock is None:
                    return None
                held = self._pins[folder.name] = Pin(lock)
            return held


def _name(run: Path) -> str:
    """Of a run's folder, to send all jobs about a run to the worker that has its trace open."""
    return f"{run.parent.name}/{run.name}"


def _of_rewriting(text: str) -> str:
    """What was verified, with the names of the two models: the source and the rewritten one."""
    head, colon, reason = text.partition(": ")
    for place, name in _SIDES:
        if reason.startswith(place):
            return f"{head}{colon}{name}{reason.removeprefix(place)}"
    return text


def _is_current(folder: Path) -> bool:
    """Whether a model is here and was opened by the code as it is."""
    if not folder.is_dir():
        return False
    return json.loads((folder / jobs.SUMMARY_FILE).read_bytes()).get("code") == code_version()


def _summary(folder: Path) -> ModelSummary:
    return SUMMARY.loads((folder / jobs.SUMMARY_FILE).read_bytes())


def run_key(pipeline: Pipeline) -> str:
    """The name of a run: equal pipelines, equal names."""
    foreign = [
        found for one in pipeline.passes if one.needs for found in (tool_version(one.needs),)
    ]
    return key_of(pipeline.to_json(), code_version(), *foreign)
