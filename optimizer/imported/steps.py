"""What a tool changes, one step after another; each is checked once it is in place."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import onnx_ir as ir

from optimizer.errors import Cancelled, RunError, Stopping, StudioError, ToolError, quoted
from optimizer.imported import jobs
from optimizer.imported.recovery import recovered
from optimizer.isolation import Isolate
from optimizer.limits import MIB, JobLimits
from optimizer.model.loader import load_bytes
from optimizer.model.writer import INLINE_BYTES, weight_bytes, write
from optimizer.numbers import bytes_text, counted
from optimizer.registry import Change
from optimizer.rules import Context, Declined
from optimizer.verify.comparison import Tolerance
from optimizer.verify.jobs import Reference
from optimizer.versions import tool_version

Result = TypeVar("Result")
MEMORY_BYTES = 8192 * MIB


@dataclass(frozen=True, slots=True)
class Tool:
    """Another project's optimizer.

    Attributes:
        name: for people.
        driver: the module that asks it, imported in the worker only.
        packages: that it may be installed as.
        options: for the driver, plain data.
        seconds: wall clock of one call.
        missing: why it cannot be asked here; empty if it can.
    """

    name: str
    driver: str
    packages: tuple[str, ...]
    options: jobs.Options
    seconds: float
    missing: str = ""


def changes_by(tool: Tool, model: ir.Model, context: Context) -> Iterator[Change]:
    """What a tool would do, step by step, each made of the model as it is by then.

    Raises:
        ToolError: the tool does not even say what it would do.
    """
    with asking(tool, model, context) as asked:
        if isinstance(asked, Declined):
            yield Change(WHOLE, asked)
        else:
            yield from asked.changes()


@contextmanager
def asking(tool: Tool, model: ir.Model, context: Context) -> Generator[Asked | Declined]:
    """A tool that is asked about a model, or why it is not."""
    unfit = tool.missing
    if not unfit and context.isolate is None:
        unfit = "The tool runs in a worker process, and there is none here"
    elif not unfit and (size := weight_bytes(model)) > INLINE_BYTES:
        most = bytes_text(INLINE_BYTES)
        unfit = f"The weights do not fit into one message of {most}: {bytes_text(size)}"
    elif not unfit and model.functions:
        unfit = "The tool is not given models with functions of their own"
    if unfit or context.isolate is None:
        yield Declined(unfit)
        return
    with TemporaryDirectory(prefix="passlens-imported-") as folder:
        yield Asked(tool, model, context.isolate, Path(folder))


WHOLE = "WholeGraph"


class Asked:
    """A tool that is asked about one model.

    Attributes:
        source: the file of the model as it is now.
        first: the file that every result is held against.
    """

    def __init__(self, tool: Tool, model: ir.Model, isolate: Isolate, folder: Path) -> None:
        self.tool, self.model, self.isolate, self.folder = tool, model, isolate, folder
        self.first = self.source = folder / "source.onnx"
        self.reference: Reference | None = None
        self.not_run = ""
        self.taken = 0
        self.title = f"{tool.name} {tool_version(*tool.packages)}".rstrip()

    def changes(self) -> Iterator[Change]:
        """One a stage; a stage that changes nothing is none."""
        write(self.model, self.source)
        stages = self.call(jobs.stages_of, self.source, self.tool.options)
        for stage in stages:
            change = self._change(stage)
            if change is not None:
                yield change
        if not self.taken and not stages:
            yield Change(WHOLE, Declined(f"{self.tool.name} found nothing to do"))

    def _change(self, stage: str) -> Change | None:
        rule = called(stage)
        made = self.folder / "made.onnx"
        try:
            self.call(jobs.run_stage, self.source, made, stage, self.tool.options)
            found = recovered(self.model.graph, self._read(made, stage))
        except ToolError as error:
            return Change(rule, error)
        if found is None or isinstance(found, Declined):
            return None if found is None else Change(rule, found)
        told = f"{self.title}: {counted(found.removed, 'node')} gone, {found.added} new"
        self.run_source()
        agreed = f"not compared: {self.not_run}" if self.not_run else "outputs agree"
        accept = partial(self.accept, stage)
        proposal = replace(found.replacement, reason=f"{told}; {agreed}.", accept=accept)
        return Change(rule, proposal)

    def _read(self, made: Path, stage: str) -> ir.Graph:
        """What the tool made of it, with the inputs and outputs of the source.

        Raises:
            ToolError: it is no model, or has others.
        """
        try:
            graph = load_bytes(made.read_bytes(), name="made").ir.graph
        except StudioError as error:
            raise self.error(stage, f"its result is no valid model: {error.message}") from error
        if problem := interface_problem(self.model.graph, graph):
            raise self.error(stage, problem)
        return graph

    def run_source(self) -> None:
        """Run the source, once, where it can be run."""
        if self.reference is None and not self.not_run:
            try:
                self.reference = self.isolated(jobs.reference_of, self.first)
            except (Cancelled, Stopping):
                raise
            except RunError as error:
                self.not_run = error.message.rstrip(".")

    def accept(self, stage: str) -> None:
        """Take a step over that is in place.

        Raises:
            ToolError: it broke the model.
        """
        candidate = self.folder / f"step-{self.taken + 1}.onnx"
        write(self.model, candidate)
        if problem := self.faults_of(candidate):
            raise self.error(stage, f"breaks the model: {problem}")
        if self.source != self.first:
            self.source.unlink()
        self.source, self.taken = candidate, self.taken + 1

    def faults_of(self, candidate: Path) -> str:
        """What is wrong with a file that should compute what the first one does."""
        arguments = (self.first, candidate, self.reference, Tolerance())
        try:
            return self.isolated(jobs.faults, *arguments)
        except (Cancelled, Stopping):
            raise
        except RunError as error:
            return f"its result was not run: {error.message}"

    def call(self, function: Callable[..., Result], *arguments: object) -> Result:
        """What a job of the tool gives.

        Raises:
            ToolError: it fails, or the worker does.
        """
        try:
            return self.isolated(function, self.tool.driver, *arguments)
        except (Cancelled, Stopping):
            raise
        except StudioError as error:
            stage = arguments[-2] if len(arguments) > 3 else ""
            raise self.error(str(stage), error.message) from error

    def isolated(self, function: Callable[..., Result], *arguments: object) -> Result:
        """What a function gives in a worker, within the tool's limits."""
        limits = JobLimits(self.tool.seconds, MEMORY_BYTES)
        return self.isolate(function, *arguments, limits=limits)

    def error(self, stage: str, problem: str) -> ToolError:
        """One sentence: who, at which stage, what is wrong."""
        who = f"{self.title}, {stage}" if stage else self.title
        return ToolError(f"{who}: {problem.rstrip('.')}; its step was not taken.")


def called(stage: str) -> str:
    """A tool's name for a part of it, as rules are called: `fuse_bn` is FuseBn."""
    return (
        "".join(part[:1].upper() + part[1:] for part in re.split(r"\W|_", stage) if part) or WHOLE
    )


def interface_problem(source: ir.Graph, made: ir.Graph) -> str:
    """How inputs and outputs differ; empty if they do not.

    An output's size that was unknown may have become known: it is not taken over.
    """
    for kind, before, after in (
        ("input", source.inputs, made.inputs),
        ("output", source.outputs, made.outputs),
    ):
        names, others = ([value.name for value in values] for values in (before, after))
        lost = [name for name in names if name not in others]
        more = [name for name in others if name not in names]
        if lost or more:
            which = (lost or more)[0] or ""
            return f"{kind} {quoted(which)} is {'missing' if lost else 'added'}"
        if names != others:
            return f"the {kind}s are in another order"
        for one, other in zip(before, after, strict=True):
            if problem := _type_problem(one, other, lenient=kind == "output"):
                return f"{kind} {quoted(one.name or '')} {problem}"
            if one.is_initializer() and not other.is_initializer():
                return f"{kind} {quoted(one.name or '')} has lost its default"
    return ""


def _type_problem(one: ir.Value, other: ir.Value, *, lenient: bool) -> str:
    if one.type is not None and other.type != one.type:
        return f"has type {other.type} instead of {one.type}"
    if one.shape is None or (other.shape is None and lenient):
        return "" if lenient or other.shape is None else f"has shape {other.shape} instead of any"
    if other.shape is None or len(one.shape) != len(other.shape):
        return f"has shape {other.shape} instead of {one.shape}"
    for mine, its in zip(one.shape, other.shape, strict=True):
        known = isinstance(mine, int) or mine.value is not None
        if mine != its and (known or not lenient):
            return f"has shape {other.shape} instead of {one.shape}"
    return ""
