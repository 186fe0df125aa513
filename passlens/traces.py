"""Optimizing, and what became of it: any step as a model, and files of both."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from optimizer.errors import StudioError, quoted
from optimizer.model.graph import Model
from optimizer.model.writer import write
from optimizer.pipeline import Pipeline
from optimizer.rewrite import driver
from optimizer.rewrite.named_nodes import node_called
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace as Rewrites
from optimizer.rewrite.trace_file import open_trace as open_cursor
from optimizer.rewrite.trace_file import save_trace
from optimizer.rewrite.why import Why
from optimizer.rewrite.why import why as asked
from passlens.notebook import trace_html
from profiling.workers import default_pool


class Trace(Rewrites):
    """Every rewrite of one run of a pipeline, in order; a notebook shows it as a picture."""

    __slots__ = ()

    def why(self, node: str) -> Why:
        """What the passes said of a node: its looks in order, and what became of it.

        >>> from passlens import open_model
        >>> told = optimize(open_model("tour")).why("n2")
        >>> [(look.pass_id, look.verdict, look.step) for look in told.looks], told.fate.kind
        ([('eliminate-dropout', 'fired', 1)], 'bypassed')

        Args:
            node: its name, the name of an output, or its id.

        Raises:
            StudioError: there is no such node; the nearest names are told.
        """
        if self.state is None:
            raise StudioError("The trace has no graph; open its file with open_trace.")
        return asked(self, node_called(self.state, node))

    def _repr_html_(self) -> str:
        return trace_html(self)


def optimize(
    model: Model, pipeline: Pipeline | str = "portable", *, limit: int | None = None
) -> Trace:
    """Run a pipeline over a model, which itself stays as it is.

    >>> from passlens import Pipeline, open_model
    >>> trace = optimize(open_model("tour"), Pipeline.of(disable=["eliminate-identity"]), limit=3)
    >>> [rewrite.step for rewrite in trace.rewrites]
    [1, 2, 3]

    Args:
        model: of `open_model`.
        pipeline: one of your own, or the name of a preset: portable, cpu, cuda, generated or none.
        limit: stop after this many rewrites.

    Raises:
        StudioError: the model cannot be optimized, or there is no such preset.
    """
    asked = Pipeline.of(pipeline) if isinstance(pipeline, str) else pipeline
    copy = replace(model, ir=model.ir.clone())
    stop = driver.Stop(limit=limit)
    return _shown(driver.optimize(copy, asked, stop=stop, isolate=default_pool()))


def open_trace(path: str | Path, *, data: str | Path | None = None) -> Trace:
    """A trace from its file.

    Args:
        path: the file.
        data: where the source's data files are, if the trace refers to them; by default beside it.

    Raises:
        TraceError: the file is not a trace, or damaged, or the data files are others.
    """
    cursor = open_cursor(Path(path), data=None if data is None else Path(data))
    cursor.seek(cursor.trace.steps)
    cursor.trace.state = cursor.state
    return _shown(cursor.trace)


def replay(trace: Rewrites, step: int | None = None) -> Model:
    """The model at a step, a copy of its own; 0 is the source, and without a step it is the last.

    >>> from passlens import open_model
    >>> trace = optimize(open_model("tour"))
    >>> len(replay(trace, 0).ir.graph) > len(replay(trace).ir.graph)
    True

    Raises:
        TraceError: there is no such step.
    """
    cursor = Cursor.at_end(trace)
    try:
        found = cursor.seek(trace.steps if step is None else step)
        return Model(found.clone(), trace.model_name, "")
    finally:
        cursor.seek(trace.steps)


def export(what: Model | Rewrites, path: str | Path, *, step: int | None = None) -> None:
    """Write a model, a step of a trace, or the trace itself if the path ends in `.trace`.

    Args:
        what: a model or a trace.
        path: large weights go to `<name>.data` beside it.
        step: of a trace; the last one unless told otherwise.

    Raises:
        StudioError: there is no such step, or the path does not fit what is written.
    """
    path = Path(path)
    if path.suffix == ".trace":
        if isinstance(what, Model) or step is not None:
            raise StudioError(f"{quoted(path.name)} would be a trace: give one, without a step.")
        cursor = Cursor.at_end(what)
        save_trace(cursor, path)
    elif isinstance(what, Model):
        if step is not None:
            raise StudioError("A model has no steps; give the trace instead.")
        write(what.ir, path)
    else:
        write(replay(what, step).ir, path)


def _shown(found: Rewrites) -> Trace:
    """The same trace as one that shows itself."""
    return Trace(**{field.name: getattr(found, field.name) for field in fields(found)})
