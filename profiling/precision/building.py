"""A plan as a pipeline, and the model that comes of it. The jobs run in workers.

Every plan begins with the same passes: the default ones, and what brings the model to an operator
set in which a scale a channel can be written. What they leave is kept as a file, on which regions
are cut and ranges are observed, and from which plans are built: nodes are found again by their
names, which are unique.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from optimizer.errors import StudioError
from optimizer.isolation import within_worker
from optimizer.model.graph import node_id
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.passes.precision.quantize_by_onnxruntime import QuantizeByOnnxruntime
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, find
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from profiling.instructions import FastIntegers, fast_integers
from profiling.precision.calibrating import Tables, balancing
from profiling.precision.plans import CHOICES, Choice, PrecisionPlan
from profiling.precision.regions import Region, regions_of

_FIRST = "raise-opset"
_PASSES: Mapping[Choice, tuple[str, ...]] = {
    "static int8": ("quantize-statically",),
    "dynamic int8": ("quantize-matmul-dynamically",),
    "int8 weights": ("store-weights-in-8-bits", "store-embeddings-in-8-bits"),
    "int4 weights": ("store-weights-in-4-bits",),
    "float16": ("convert-to-float16",),
}
_OF_TRANSFORMERS = ("Conv", "Gemm", "MatMul")
"""What ONNX Runtime's tool may take there: what is between them loses more than it wins."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A model after the passes that every plan begins with.

    Attributes:
        regions: of it.
        ids: of its nodes by their names, as they are in a trace from the source.
        digest: of the file as it came.
        integers: that this processor multiplies fast.
        file: it is kept in.
    """

    regions: tuple[Region, ...]
    ids: Mapping[str, str]
    digest: str
    integers: FastIntegers
    file: Path = Path()


@dataclass(frozen=True, slots=True)
class Built:
    """A file that was made.

    Attributes:
        size_bytes: weights beside it included.
        failure: why there is none; else empty.
    """

    size_bytes: int
    failure: str = ""


def offered() -> frozenset[Choice]:
    """Choices that there are passes for."""
    return frozenset(
        choice for choice in CHOICES if choice not in _PASSES or any(map(find, _PASSES[choice]))
    )


def passes_of(choice: Choice) -> tuple[str, ...]:
    """Ids of the passes that a choice takes."""
    return _PASSES.get(choice, ())


def prelude() -> Pipeline:
    """What every plan begins with."""
    first = find(_FIRST)
    plain = Pipeline.of("portable")
    return plain if first is None else replace(plain, passes=(*plain.passes, first()))


def pipeline_of(plan: PrecisionPlan, prepared: Prepared, tables: Tables) -> Pipeline:
    """The passes of a plan at their places, without what every plan begins with.

    Args:
        plan: for the regions of the prepared model.
        prepared: with ids of its nodes where the passes will run.
        tables: what was observed.
    """
    if plan.variant == "onnxruntime":
        return Pipeline((_by_the_runtime(plan, prepared, tables),), "none")
    places: dict[str, set[str]] = {}
    for choice, region in zip(plan.choices, prepared.regions, strict=True):
        for pass_id in _PASSES.get(choice, ()):
            places.setdefault(pass_id, set()).update(prepared.ids[name] for name in region.nodes)
    balanced = tables.get(plan.variant)
    first = None if balanced is None else balancing(plan.variant, balanced.maxima)
    passes: list[Pass] = [] if first is None else [first]
    for pass_id in places:
        found = find(pass_id)
        if found is not None:
            passes.append(_configured(found, plan, places[pass_id], prepared, tables))
    kept = {key: frozenset(nodes) for key, nodes in places.items() if key != "convert-to-float16"}
    return Pipeline(tuple(passes), "none", places=kept)


def whole_pipeline(plan: PrecisionPlan, prepared: Prepared, tables: Tables) -> Pipeline:
    """The passes of a plan, for the model as it came."""
    own = pipeline_of(plan, prepared, tables)
    first = prelude()
    return replace(first, passes=(*first.passes, *own.passes), places=own.places)


def prepare(source: Path, bindings: Mapping[str, int], target: Path) -> Prepared:
    """Do what every plan begins with, and cut regions; in a worker.

    Raises:
        StudioError: the model cannot be optimized, or there is nothing in it to quantize.
    """
    model = complete(load_path(source), isolate=within_worker, bind=bindings)
    optimize(model, prelude())
    regions = regions_of(model.ir.graph)
    if not regions:
        raise StudioError(
            "There is nothing to quantize: no convolution, matrix product or table of embeddings "
            "has constant float32 weights."
        )
    write(model.ir, target)
    ids = {node.name or "": node_id(node) for node in model.ir.graph}
    return Prepared(regions, ids, model.digest, fast_integers(), target)


def build(prepared: Prepared, plan: PrecisionPlan, tables: Tables, target: Path) -> Built:
    """The model of a plan as a file; in a worker."""
    model = complete(load_path(prepared.file), isolate=within_worker)
    ids = {node.name or "": node_id(node) for node in model.ir.graph}
    planned = pipeline_of(plan, replace(prepared, ids=ids), tables)
    trace = optimize(model, planned, isolate=within_worker)
    if trace.failed:
        return Built(0, f"Rule {trace.failed[0].rule} failed: {trace.failed[0].error}.")
    if not trace.rewrites:
        reasons = dict.fromkeys(declined.reason for declined in trace.declined)
        return Built(0, f"Nothing could be changed: {next(iter(reasons), 'no rule fits')}.")
    write(model.ir, target, inline_bytes=0)
    return Built(size_of(target))


def size_of(model: Path) -> int:
    """A file and the weights beside it."""
    beside = model.with_name(f"{model.name}.data")
    return sum(file.stat().st_size for file in (model, beside) if file.exists())


def _configured(
    declared: type[Pass], plan: PrecisionPlan, at: set[str], prepared: Prepared, tables: Tables
) -> Pass:
    """A pass with the tables and types that it asks for."""
    wanted = {option.name for option in fields(declared)}
    about: dict[str, object] = {}
    if "ranges" in wanted:
        known = tables.get(plan.variant, tables[""])
        about["ranges"] = known.ranges[plan.method]
        about["means"] = known.means if plan.variant else ()
        about["activations"] = prepared.integers.activations
        about["weight_bits"] = prepared.integers.weight_bits
    if "keep" in wanted:
        about["keep"] = tuple(sorted(set(prepared.ids.values()) - at))
    return declared(**about)


def _by_the_runtime(plan: PrecisionPlan, prepared: Prepared, tables: Tables) -> Pass:
    """ONNX Runtime's own tool on all regions that are quantized."""
    static = "static int8" in plan.choices
    pairs = [*zip(plan.choices, prepared.regions, strict=True)]
    share = sum(region.share for _, region in pairs if region.kind == "convolutions")
    return QuantizeByOnnxruntime(
        mode="static" if static else "dynamic",
        ranges=tables[""].ranges[plan.method] if static else (),
        operators=() if not static or share > 1 / 2 else _OF_TRANSFORMERS,
        nodes=tuple(n for choice, region in pairs if choice != "float32" for n in region.nodes),
        activations=prepared.integers.activations,
        weight_bits=prepared.integers.weight_bits,
    )
