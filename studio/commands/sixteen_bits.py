"""What `passlens optimize` does beside the pass for a network in 16 bits.

It finds the keep-list before, and afterwards it measures what 16 bits really lose: a CPU leaves
rounding out (`optimizer.precision.emulation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx_ir as ir

from optimizer.errors import plain, quoted
from optimizer.model.graph import Model, node_id
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.numbers import counted
from optimizer.passes.precision.convert_to_float16 import ConvertToFloat16
from optimizer.pipeline import Pipeline
from optimizer.precision.emulation import emulated
from optimizer.precision.float_formats import FloatFormat, format_named
from optimizer.precision.rounding import lost
from optimizer.precision.samples import Samples
from optimizer.rewrite.driver import optimize
from optimizer.source import open_source
from optimizer.verify import ErrorBudget, Verification, verify
from profiling.precision.keep_list import KeepList
from profiling.precision.keep_list_search import DEFAULT_BUDGET, find_keep_list
from profiling.workers import default_pool
from studio.commands.output import say
from studio.commands.progress_line import progress_line

_INPUTS = 3
_LOADS = ErrorBudget(100.0, "%")
"""The file itself has to run; what it loses, the emulation tells."""


def planned(pipeline: Pipeline) -> ConvertToFloat16 | None:
    """The pass, if it runs."""
    return next((one for one in pipeline.passes if isinstance(one, ConvertToFloat16)), None)


def with_keep_list(
    pipeline: Pipeline, path: Path, bindings: Mapping[str, int], budget: ErrorBudget | None
) -> Pipeline:
    """The pipeline with a keep-list for its pass, found on the graph that the others leave.

    Where the pass does not run, or has a list already, nothing is looked for.

    Raises:
        StudioError: the model cannot be opened or run.
    """
    half = planned(pipeline)
    if half is None or half.keep:
        return pipeline
    others = replace(pipeline, passes=tuple(one for one in pipeline.passes if one is not half))
    with TemporaryDirectory() as folder, progress_line() as progress:
        model, names = _rewritten(path, bindings, others, Path(folder))
        found = find_keep_list(
            model,
            half,
            isolate=default_pool(),
            samples=Samples(count=_INPUTS, bindings=dict(bindings)),
            budget=budget or DEFAULT_BUDGET,
            progress=progress,
        )
    _say(found, format_named(half.format))
    # A later round may derive other nodes from the same ones of the source: all of them are kept.
    keep = tuple(dict.fromkeys(names[identity].partition("~")[0] for identity in found.ids))
    passes = tuple(replace(half, keep=keep) if one is half else one for one in pipeline.passes)
    return replace(pipeline, passes=passes)


def _rewritten(
    path: Path, bindings: Mapping[str, int], others: Pipeline, folder: Path
) -> tuple[Model, Mapping[str, str]]:
    """What the other passes leave, opened anew, and the ids that its nodes have in their run."""
    model = open_source(path, isolate=default_pool(), bind=bindings)
    optimize(model, others)
    file = folder / path.name
    write(model.ir, file)
    again = open_source(file, isolate=default_pool())
    both = zip(again.ir.graph, model.ir.graph, strict=True)
    return again, {node_id(new): node_id(old) for new, old in both}


def verified(
    source: Path,
    model: Model,
    written: Path,
    half: ConvertToFloat16,
    *,
    bindings: Mapping[str, int],
    budget: ErrorBudget | None,
) -> Verification:
    """The network in 16 bits, each result rounded, against the file as it came.

    Args:
        source: the file as it came.
        model: in 16 bits.
        written: the same as a file, which has to run as well where this CPU can run it.
        half: the pass.
        bindings: sizes of free dimensions.
        budget: of error.
    """
    itself = _itself(source, written, half, bindings)
    if itself is not None and itself.verdict == "differs":  # it does not run
        return itself
    say(f"{half.format} is emulated: every result is rounded, which a CPU leaves out.")
    with TemporaryDirectory() as folder:
        rounded = Path(folder) / "emulated.onnx"
        graph = load_path(source).ir.graph
        ends = (*graph.inputs, *graph.outputs)
        floats = {value.name or "" for value in ends if value.dtype == ir.DataType.FLOAT}
        write(emulated(model.ir, as_float32=floats), rounded)
        return verify(
            source,
            rounded,
            isolate=default_pool(),
            budget=budget or DEFAULT_BUDGET,
            seeds=_INPUTS,
            bindings=bindings,
        )


def _itself(
    source: Path, written: Path, half: ConvertToFloat16, bindings: Mapping[str, int]
) -> Verification | None:
    """The file as this CPU runs it; None where it does not, or inputs cannot be shared."""
    if half.format != "float16":
        say(f"The file itself was not run: many operators of {half.format} need another device.")
        return None
    if half.io:
        say("The file itself was not run: its inputs are of other types.")
        return None
    return verify(
        source, written, isolate=default_pool(), budget=_LOADS, seeds=1, bindings=bindings
    )


def _say(found: KeepList, form: FloatFormat) -> None:
    losses = [lost(histogram, form) for histogram in found.histograms.values()]
    beyond, low = sum(one.overflow > 0 for one in losses), sum(one.subnormal > 0 for one in losses)
    say(
        f"In float32 {beyond} of {counted(len(losses), 'value')} leave the range of {form.name},"
        f" {low} have numbers that are subnormal in it."
    )
    say(str(found))
    for node in found.nodes:
        say(plain(f"  {node.operator} {quoted(node.name or node.id)} stays float32: {node.reason}"))
