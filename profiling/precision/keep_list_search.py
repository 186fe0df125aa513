"""Which nodes of a network have to stay float32 so that 16 bits lose no more than is allowed.

One run of the network itself tells what leaves the range: that stays. If that is not enough, nodes
that rounding hurts most by estimate are kept, twice as many each time, until the outputs are within
the budget; what is not needed of them is let go again. Each trial is run as `emulated`: a CPU
leaves out the rounding and the overflows between two operators. What is within the budget so is run
as it is written, too, where the runtime can: it adds up in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Unpack

import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.isolation import Isolate, JobOptions, silent
from optimizer.limits import JobLimits
from optimizer.model.graph import Model, node_id
from optimizer.model.writer import write
from optimizer.numbers import counted, three_digits
from optimizer.passes.precision.convert_to_float16 import ConvertToFloat16
from optimizer.pipeline import Pipeline
from optimizer.precision.assignment import assigned
from optimizer.precision.emulation import emulated
from optimizer.precision.float_formats import FloatFormat, format_named
from optimizer.precision.histogram import Histogram
from optimizer.precision.observation import observe
from optimizer.precision.rounding import estimated_error
from optimizer.precision.samples import Samples, supply_of
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.verify import ErrorBudget, Tolerance, jobs
from optimizer.verify.runtime import Session
from profiling.precision.keep_list import KeepList, Kept, Trial

DEFAULT_BUDGET = ErrorBudget(1.0, "%")
DEFAULT_PASS = ConvertToFloat16()
DEFAULT_SAMPLES = Samples(count=3)
MOST_RUNS = 40
_LIMITS = JobLimits(seconds=600.0)
_NEEDED = "in 16 bits it takes the outputs beyond {}"
_MAYBE = "it was not found out whether {} holds without it"
_HEADROOM = 2.0
"""What reaches half of the range on a few samples may leave it on others."""


def find_keep_list(
    model: Model,
    planned: ConvertToFloat16 = DEFAULT_PASS,
    *,
    isolate: Isolate,
    samples: Samples = DEFAULT_SAMPLES,
    budget: ErrorBudget = DEFAULT_BUDGET,
    most_runs: int = MOST_RUNS,
    **options: Unpack[JobOptions],
) -> KeepList:
    """Look for the nodes to keep.

    Args:
        model: as it was loaded, with its shapes; it is as it was when this ends.
        planned: the pass; what it keeps already stays kept.
        isolate: where the model runs.
        samples: what it is run on.
        budget: what the outputs are held to.
        most_runs: of the network in 16 bits.
        options: limits of one run; who is told how far it is, and asked whether to stop.

    Raises:
        StudioError: the model cannot be optimized, or a sample is wrong.
        RunError: the model does not run, or somebody wanted to stop.
    """
    with TemporaryDirectory() as folder:
        search = _Search(
            model, planned, Path(folder), isolate=isolate, budget=budget, most_runs=most_runs,
            options=options,
        )  # fmt: skip
        return search.run(samples)


class _Enough(Exception):
    """There were as many runs as there may be."""


class _Search:
    """One search."""

    def __init__(
        self,
        model: Model,
        planned: ConvertToFloat16,
        folder: Path,
        *,
        isolate: Isolate,
        budget: ErrorBudget,
        most_runs: int,
        options: JobOptions,
    ) -> None:
        self._model, self._isolate = model, isolate
        self._planned = replace(planned, io=False)  # so that outputs can be compared
        self._budget, self._most_runs = budget, most_runs
        self._options: JobOptions = {"limits": _LIMITS, **options}
        self._quiet: JobOptions = {**self._options, "progress": None}
        self._form = format_named(planned.format)
        self._source, self._candidate = folder / "source.onnx", folder / "candidate.onnx"
        self._tried: dict[frozenset[str], Trial] = {}

    def run(self, samples: Samples) -> KeepList:
        """Observe, grow, shrink."""
        sixteen = self._sixteen(())
        nodes = {node_id(node): node for node in self._model.ir.graph if node in sixteen}
        if not nodes:
            return KeepList((), self._budget, (), None, 0, {}, True, samples)
        histograms = self._observed(samples)
        write(self._model.ir, self._source)
        self._reference = self._isolate(reference_on, self._source, samples, **self._quiet)
        left = _out_of_range(nodes.values(), histograms, self._form)
        reasons = {node_id(node): reason for node, reason in left.items()}
        errors = {
            identity: estimated_error(node, histograms, self._form)
            for identity, node in nodes.items()
            if identity not in reasons
        }
        ranked = sorted(errors, key=lambda identity: -errors[identity])
        found, irreducible = self._needed(frozenset(reasons), ranked)
        why = _NEEDED.format(self._budget) if irreducible else _MAYBE.format(self._budget)
        reasons |= dict.fromkeys(found, why)
        kept = tuple(
            Kept(identity, node.name or "", node.op_type, reasons[identity])
            for identity, node in nodes.items()
            if identity in reasons
        )
        return KeepList(
            kept,
            self._budget,
            tuple(self._tried.values()),
            self._tried.get(frozenset(reasons)),
            len(self._sixteen(reasons)),
            histograms,
            irreducible,
            samples,
        )

    def _sixteen(self, keep: Collection[str]) -> frozenset[ir.Node]:
        graph = self._model.ir.graph
        kept = {*self._planned.keep, *keep}
        return assigned(graph, self._form, graph.opset_imports, kept).sixteen

    def _observed(self, samples: Samples) -> Mapping[str, Histogram]:
        """The numbers of all values in float32, masks within the range as the pass puts them."""
        everything = (node_id(node) for node in self._model.ir.graph)
        self._write(everything, self._source, emulate=False)
        return observe(self._source, samples, isolate=self._isolate, **self._options).histograms

    def _write(self, keep: Iterable[str], target: Path, *, emulate: bool = True) -> None:
        """The network with these nodes kept; the model is then as it was."""
        planned = replace(self._planned, keep=(*self._planned.keep, *keep))
        trace = optimize(self._model, Pipeline((planned,)))
        write(emulated(self._model.ir) if emulate else self._model.ir, target)
        Cursor.at_end(trace).seek(0)

    def _needed(self, base: frozenset[str], ranked: Sequence[str]) -> tuple[frozenset[str], bool]:
        """Of the ranked nodes those that are kept, and whether each of them must be."""
        many = 0
        try:
            while many < len(ranked) and not self._within(base.union(ranked[:many])):
                many = max(1, 2 * many)
            found = needed_of(ranked[:many], lambda keep: self._within(base.union(keep)))
            self._within(base.union(found))  # so that its error is known
            return frozenset(found), True
        except _Enough:
            within = [keep for keep, trial in self._tried.items() if trial.within]
            best = min(within, key=len, default=base.union(ranked))
            return best - base, False

    def _within(self, keep: frozenset[str]) -> bool:
        """Whether the outputs are within the budget with these nodes kept; each asked once."""
        if keep not in self._tried:
            if len(self._tried) >= self._most_runs:
                raise _Enough
            self._tried[keep] = self._trial(keep)
        return self._tried[keep].within

    def _trial(self, keep: frozenset[str]) -> Trial:
        told = self._options.get("progress") or silent
        number = len(self._tried)
        text = f"run {number + 1} of at most {self._most_runs}: {counted(len(keep), 'node')} kept"
        told(text, number / self._most_runs)
        found = self._checked(keep, emulate=True)
        outputs = found.outputs
        if not found.failure and all(one.ok for one in outputs):
            outputs += self._checked(keep, emulate=False).outputs  # none where it does not run here
        alike = not found.failure and all(one.ok or one.scaled > 0 for one in outputs)
        error = max((one.scaled for one in outputs), default=0.0)
        return Trial(
            len(keep),
            error if alike else float("inf"),
            min((one.sqnr_db for one in outputs), default=float("inf")),
            min((one.worst_db for one in outputs), default=float("inf")),
            within=not found.failure and all(one.ok for one in outputs),
        )

    def _checked(self, keep: frozenset[str], *, emulate: bool) -> jobs.Check:
        self._write(keep, self._candidate, emulate=emulate)
        tolerance = Tolerance(budget=self._budget)
        return self._isolate(jobs.check, self._reference, self._candidate, tolerance, **self._quiet)


def reference_on(model: Path, samples: Samples) -> jobs.Reference:
    """The job in a worker: what the model gives for samples."""
    session, structure = Session(model), jobs.structure_of(model)
    supply = supply_of(samples, session, structure)
    inputs = [supply.read(number) for number in range(len(supply.names))]
    runs = tuple(jobs.ReferenceRun(read, session.run(read)) for read in inputs)
    return jobs.Reference(session.interface, (), runs, jobs.random_outputs(structure))


def _out_of_range(
    nodes: Iterable[ir.Node], histograms: Mapping[str, Histogram], form: FloatFormat
) -> dict[ir.Node, str]:
    """Nodes that give or read what reaches half of the range, each with that as its reason."""
    found: dict[ir.Node, str] = {}
    for node in nodes:
        for verb, values in (("gives", node.outputs), ("reads", node.inputs)):
            for value in values:
                histogram = None if value is None else histograms.get(value.name or "")
                if value is None or histogram is None:
                    continue
                if histogram.magnitude * _HEADROOM >= form.overflow:
                    reached = three_digits(histogram.magnitude)
                    name = quoted(value.name or "")
                    half = f"more than half of what {form.name} holds ({form.largest:.5g})"
                    found.setdefault(node, f"it {verb} {name}, which reaches {reached}, {half}")
    return found


def needed_of(candidates: Sequence[str], holds: Callable[[Collection[str]], bool]) -> list[str]:
    """A subset that `holds`, of which nothing can be left out; `candidates` as a whole holds.

    Source: Junker 2004, QuickXplain.
    """

    def needed(kept: list[str], rest: Sequence[str], *, changed: bool) -> list[str]:
        if changed and holds(kept):
            return []
        if len(rest) <= 1:
            return list(rest)
        half = len(rest) // 2
        second = needed([*kept, *rest[:half]], rest[half:], changed=True)
        first = needed([*kept, *second], rest[:half], changed=bool(second))
        return first + second

    return needed([], candidates, changed=False) if candidates else []
