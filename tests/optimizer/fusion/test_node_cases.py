"""Loops of each operator against the ONNX project's own cases."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnx.backend.test.case.node as node_cases
import pytest

from optimizer.loops.building import NotGenerated
from optimizer.operators.catalogue import CATALOGUE
from tests.optimizer.fusion.regions import computed

RULED = sorted(name for (domain, name), op in CATALOGUE.items() if op.loops and not domain)
CONSTANT = set(
    [
        "Reshape",
        "Slice",
        "Pad",
        "Trilu",
        "Tile",
        "Expand",
        "Squeeze",
        "Unsqueeze",
        "Split",
        "Resize",
        "ConstantOfShape",
    ]
)
"""Operators whose inputs of integers, or of scales, say where elements lie; the cases give them at
run time."""
WITHOUT_CASES = {"Range", "SimplifiedLayerNormalization"}
DECLINED = (
    "no loops are written for elements of type",
    "may be in training",
    "has loops for inference over channels alone",
    "has loops for a constant alone",
    "has loops for the powers 1, 2 and 3 alone",
    "Resize has loops for",
    "Resize has a scale that",
    "the shape that Resize gives",
    "Mod of floats without fmod means nothing",
    "type or rank of 'x' is not known",
    "type or rank of 'opt_in' is not known",
)
"""Every reason that a case meets."""


@cache
def cases() -> dict[str, list[Any]]:
    """By operator; making them is what their modules do when they are imported."""
    modules = {
        one.name.replace("_", ""): one.name for one in pkgutil.iter_modules(node_cases.__path__)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in RULED:
            if name.lower() in modules:
                importlib.import_module(f"{node_cases.__name__}.{modules[name.lower()]}")
    found: defaultdict[str, list[Any]] = defaultdict(list)
    made: list[Any] = node_cases._NodeTestCases  # pyright: ignore[reportPrivateUsage] - the public way imports all operators
    for case in made:
        nodes = case.model.graph.node
        if len(nodes) == 1 and not nodes[0].domain:
            found[nodes[0].op_type].append(case)
    return found


def _array(given: Any) -> np.ndarray:
    return onnx.numpy_helper.to_array(given) if isinstance(given, onnx.TensorProto) else given


def _with_constants(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> onnx.ModelProto:
    """The model with shapes, axes and the like as constants."""
    node = model.graph.node[0]
    if node.op_type not in CONSTANT and not node.op_type.startswith("Reduce"):
        return model
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    held = {
        n
        for n in list(node.input)[0 if node.op_type == "ConstantOfShape" else 1 :]
        if n in feeds and (feeds[n].dtype.kind in "iu" or n == "scales")
    }
    changed.graph.initializer.extend(onnx.numpy_helper.from_array(feeds[n], n) for n in held)
    left = [one for one in model.graph.input if one.name not in held]
    del changed.graph.input[:]
    changed.graph.input.extend(left)
    return changed


@pytest.mark.parametrize("name", RULED)
def test_loops_give_what_the_cases_of_onnx_give(name: str) -> None:
    agreed, reasons = 0, list[str]()
    for case in cases()[name]:
        inputs, outputs = case.data_sets[0]
        names = [one.name for one in case.model.graph.input]
        feeds = {key: _array(given) for key, given in zip(names, inputs, strict=True)}
        try:
            found = computed(_with_constants(case.model, feeds), feeds)
        except NotGenerated as error:
            reasons.append(str(error))
            continue
        for mine, given in zip(found, map(_array, outputs), strict=True):
            assert (mine.dtype, mine.shape) == (given.dtype, given.shape), case.name
            pair = (one.astype(np.float64) for one in (mine, given))
            np.testing.assert_allclose(*pair, rtol=1e-3, atol=1e-6, err_msg=case.name)
        agreed += 1
    assert agreed or name in WITHOUT_CASES
    assert [r for r in reasons if not any(known in r for known in DECLINED)] == []
