from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.verify import Feed, jobs
from optimizer.verify.feeds import DTYPES, Input, draw, planned
from optimizer.verify.sizes import SizeChoice, plans
from optimizer.verify.usage import InputUsage, usage_of
from profiling.workers import WorkerPool


def usage(body: str, *, name: str = "i") -> InputUsage:
    parsed = _parsed(body)
    value = next(value for value in parsed.graph.inputs if value.name == name)
    return usage_of(value, parsed, {"rows": 6})


def _parsed(body: str) -> ir.Model:
    return ir.from_onnx_text(f'<ir_version: 9, opset_import: ["" : 18]>\n{body}')


def test_indexes_stay_below_the_axis_they_index() -> None:
    found = usage(
        """g (int64[3] i, float[5,9] x) => (float[5,3] y) {
            j = Cast<to: int = 6>(i) k = Identity(j) y = Gather<axis: int = 1>(x, k)
        }"""
    )
    assert found.below == [9]


def test_what_is_added_before_indexing_counts() -> None:
    found = usage(
        """g (int64[3] i, float[10,2] x) => (float[3,2] y) {
            two = Constant<value: tensor = int64 {2}>() j = Add(i, two) y = Gather(x, j)
        }"""
    )
    assert found.below == [8]


def test_an_indexed_axis_of_free_size_has_the_planned_size() -> None:
    found = usage("g (int64[3] i, float[rows,2] x) => (float[3,2] y) { y = Gather(x, i) }")
    assert found.below == [6]


def test_uses_inside_bodies_are_seen() -> None:
    found = usage(
        """g (int64[3] i, bool c, float[4] x) => (float[3] y) {
            y = If (c) <
                then_branch = t () => (float[3] a) { a = Gather(x, i) },
                else_branch = e () => (float[3] b) { b = Cast<to: int = 1>(i) }
            >
        }"""
    )
    assert found.below == [4]


def test_divisors_shapes_and_masks_are_recognised() -> None:
    assert usage("g (int64[3] i, int64[3] x) => (int64[3] y) { y = Div(x, i) }").divisor
    assert usage("g (int64[2] i, float[4] x) => (float[m,n] y) { y = Reshape(x, i) }").shape
    assert usage(
        """g (int64[4] i) => (float[4] y) {
            f = Cast<to: int = 1>(i) one = Constant<value: tensor = float {1}>() y = Sub(one, f)
        }"""
    ).mask


@pytest.mark.parametrize("type_name", sorted(DTYPES))
def test_every_type_can_be_drawn_in_every_shape(type_name: str) -> None:
    empty = _parsed("g (float[1] x) => (float[1] y) { y = Identity(x) }")
    for shape in ((), (3,), (2, 0), (2, 3, 4)):
        feeds = planned([Input("v", type_name, shape)], SizeChoice({"v": shape}, {}), empty)
        array = draw(feeds, seed=1)["v"]
        assert (array.dtype, array.shape) == (DTYPES[type_name], shape)


def test_the_same_seed_draws_the_same_numbers() -> None:
    feed = Feed("x", "float32", (16,))
    first, second, other = (draw([feed], seed=seed)["x"] for seed in (4, 4, 5))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_a_mask_without_rows_is_a_number_that_is_0_or_1() -> None:
    feed = Feed("m", "int32", (), "mask", 0, 2)
    drawn = [draw([feed], seed=seed)["m"] for seed in range(50)]
    assert {array.shape for array in drawn} == {()}
    assert {int(array) for array in drawn} == {0, 1}
    assert all(int(array) == 1 for array in drawn[::2])


def test_masks_are_full_or_keep_the_first_of_every_row() -> None:
    feed = Feed("m", "int64", (50, 6), "mask", 0, 2)
    assert draw([feed], seed=0)["m"].all()
    partial = draw([feed], seed=1)["m"]
    assert 0 < int((partial == 0).sum()) < partial.size / 2
    assert partial[:, 0].all()


def test_past_and_new_tokens_add_up() -> None:
    shapes = {
        "ids": ("batch", "seq"),
        "mask": ("batch", "total_seq"),
        "key": ("batch", 2, "past_seq", 8),
        "bias": ("batch", "past_seq + seq"),
    }
    for plan in plans(shapes, {}):
        new, past = plan.shapes["ids"][1], plan.shapes["key"][2]
        assert plan.shapes["mask"][1] == plan.shapes["bias"][1] == new + past


ZOO = os.environ.get("PASSLENS_ZOO")
_NOT_TENSORS = {"pub_squeezenet_winml_tensor_input.onnx"}


@pytest.mark.skipif(ZOO is None, reason="PASSLENS_ZOO is not set")
def test_own_feeds_run_on_every_unpacked_model_of_the_zoo(isolate: WorkerPool) -> None:
    root = Path(ZOO or "")
    refused: dict[str, str] = {}
    for entry in json.loads((root / "manifest.json").read_text()):
        path = root / entry["file"]
        if path.suffix != ".onnx" or path.name in _NOT_TENSORS or path.stat().st_size > 20e6:
            continue
        try:
            isolate(jobs.run_reference, path, jobs.Request(seeds=1))
        except jobs.NotRunnable as error:
            refused[path.name] = error.message
    assert refused == {}


def test_dimension_names_with_odd_characters_are_sized() -> None:
    shapes = {"x": ("unk__214", "My dim/2 (a)", None)}
    plan = next(plans(shapes, {}))
    assert all(size > 0 for size in plan.shapes["x"])
    assert not re.search("None", str(plan.shapes))
