"""Every case of ONNX's operators that ONNX Runtime runs, through all passes of each preset.

A case is optimized as it stands, and with all of its inputs but the first as constants, so that
shapes, axes and weights are known. What it computes then is compared with what ONNX Runtime, with
its own passes off, makes of the case itself.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from optimizer.isolation import within_worker
from optimizer.model.loader import load_bytes
from optimizer.pipeline import Pipeline
from optimizer.registry import PRESETS
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import proto_of
from tests.optimizer.running import Feeds, differences, run

OPSETS = {"": 26, "ai.onnx.ml": 5}
"""Later ones the runtime does not know."""
IR_VERSION = 11
PARTS = 8
"""Every so manieth case in a quick test; all of them take minutes."""
LEAST_RUN = 1000


@dataclass(frozen=True, slots=True)
class Case:
    """A case of the ONNX project that runs here.

    Attributes:
        name: in the project.
        model: as it is optimized.
        feeds: inputs that are left.
        expected: what ONNX Runtime makes of it.
    """

    name: str
    model: onnx.ModelProto
    feeds: Feeds
    expected: list[np.ndarray]


@cache
def collected() -> tuple[Any, ...]:
    """All cases; making them is what their modules do when they are imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return tuple(collect_testcases(None))  # pyright: ignore[reportArgumentType] - None is all


def running(part: int, parts: int, counts: Counter[str]) -> Iterator[Case]:
    """Every `parts`-th case in both forms, if ONNX Runtime runs it."""
    for made in collected()[part::parts]:
        counts["cases"] += 1
        forms: list[Case] = []
        with suppress(Exception):  # other types than tensors, too new, or without a kernel
            model, feeds = _as_tensors(made)
            forms = _forms(made.name, model, feeds, run(model, feeds))
        counts["run"] += bool(forms)
        yield from forms


def _forms(
    name: str, model: onnx.ModelProto, feeds: Feeds, expected: list[np.ndarray]
) -> list[Case]:
    whole = Case(name, model, feeds, expected)
    if len(feeds) < 2:
        return [whole]
    return [whole, Case(f"{name} with constants", *_with_constants(model, feeds), expected)]


def _as_tensors(made: Any) -> tuple[onnx.ModelProto, Feeds]:
    model = onnx.ModelProto()
    model.CopyFrom(made.model)
    model.ir_version = min(model.ir_version, IR_VERSION)
    for entry in model.opset_import:
        entry.version = min(entry.version, OPSETS.get(entry.domain, entry.version))
    arrays = [
        numpy_helper.to_array(one) if isinstance(one, onnx.TensorProto) else np.asarray(one)
        for one in made.data_sets[0][0]
    ]
    names = [value.name for value in model.graph.input]
    return model, dict(zip(names, arrays, strict=True))


def _with_constants(model: onnx.ModelProto, feeds: Feeds) -> tuple[onnx.ModelProto, Feeds]:
    """The first input stays."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    first, *rest = feeds
    made.graph.initializer.extend(numpy_helper.from_array(feeds[name], name) for name in rest)
    kept = [value for value in made.graph.input if value.name == first]
    del made.graph.input[:]
    made.graph.input.extend(kept)
    return made, {first: feeds[first]}


def held(case: Case, pipeline: Pipeline) -> tuple[bool, list[str]]:
    """Whether a pass fired, and what is wrong then."""
    model = load_bytes(case.model.SerializeToString(), name="case")
    trace = optimize(model, pipeline, isolate=within_worker)
    failed = [f"{case.name}: {one}" for one in trace.failed]
    if not trace.steps:
        return False, failed
    story = [f"{step.pass_id} ({step.rule})" for step in trace.rewrites]
    try:
        found = run(proto_of(model.ir), case.feeds)
        failed += differences(case.expected, found, exact=False)
    except Exception as error:
        failed.append(f"does not run: {error}")
    return True, [f"{case.name}: {wrong}, {story}" for wrong in failed]


def tallied(part: int, parts: int) -> tuple[Counter[str], list[str]]:
    """How many cases there were, ran, and changed by preset; and what was wrong."""
    counts, wrong = Counter[str](), list[str]()
    pipelines = {preset: Pipeline.of(preset) for preset in PRESETS}
    for case in running(part, parts, counts):
        counts["graphs"] += 1
        for preset, pipeline in pipelines.items():
            fired, found = held(case, pipeline)
            counts[f"changed by {preset}"] += fired
            wrong += [f"{preset}: {one}" for one in found]
    return counts, wrong


@pytest.mark.long
def test_a_part_of_the_cases_computes_the_same_with_every_preset() -> None:
    counts, wrong = tallied(3, 16 * PARTS)
    assert wrong == []
    assert counts["run"] > counts["cases"] / 2
    assert all(counts[f"changed by {preset}"] for preset in PRESETS)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_case_that_runs_computes_the_same_with_every_preset(
    part: int, record_property: Callable[[str, object], None]
) -> None:
    counts, wrong = tallied(part, PARTS)
    record_property("cases", str(dict(counts)))
    assert wrong == []
    assert counts["run"] * PARTS > LEAST_RUN
