"""Models of old operator sets in newer ones compute the same, as does ONNX's converter."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import onnx.backend.test
import pytest
from onnx import numpy_helper, version_converter

from optimizer.model.signatures import RUNTIME_OPSETS
from optimizer.passes.structure.conversions import CONVERSIONS
from optimizer.passes.structure.raise_opset import RaiseOpset
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.provenance import Provenance
from optimizer.rewrite.replay import Cursor
from tests.optimizer.graphs import opened, parsed, proto_of
from tests.optimizer.running import differences, feeds_for, run

NEWEST = RUNTIME_OPSETS[""]
LAYER = "float[2] s = {1, 2}, float[2] b = {0.5, 0.25}, float[2] m = {0, 1}, float[2] v = {1, 4}"

MODELS: dict[str, tuple[int, str]] = {
    "Sum": (7, "(float[2, 3] x) => (float[2, 3] y) { y = Sum (x, x) }"),
    "Max": (7, "(float[2, 3] x, float[2, 3] z) => (float[2, 3] y) { y = Max (x, z) }"),
    "BatchNormalization": (
        7,
        f"(float[1, 2, 4] x) => (float[1, 2, 4] y) <{LAYER}>"
        "{ y = BatchNormalization <spatial = 1> (x, s, b, m, v) }",
    ),
    "Upsample nearest": (
        7,
        "(float[1, 1, 2, 3] x) => (float[1, 1, 4, 6] y)"
        "{ y = Upsample <mode = 'nearest', scales = [1.0, 1.0, 2.0, 2.0]> (x) }",
    ),
    "Upsample linear": (
        7,
        "(float[1, 1, 2, 3] x) => (float[1, 1, 4, 7] y)"
        "{ y = Upsample <mode = 'linear', scales = [1.0, 1.0, 2.0, 2.5]> (x) }",
    ),
    "Resize to less": (
        10,
        "(float[1, 1, 7, 9] x) => (float[1, 1, 4, 6] y) <float[4] k = {1, 1, 0.6, 0.7}>"
        "{ y = Resize <mode = 'nearest'> (x, k) }",
    ),
    "Resize to more": (
        10,
        "(float[1, 1, 3, 5] x) => (float[1, 1, H, W] y) <float[4] k = {1, 1, 2.3, 1.7}>"
        "{ y = Resize <mode = 'nearest'> (x, k) }",
    ),
    "Resize by lines": (
        10,
        "(float[1, 1, 6, 8] x) => (float[1, 1, H, W] y) <float[4] k = {1, 1, 0.6, 1.7}>"
        "{ y = Resize <mode = 'linear'> (x, k) }",
    ),
    "Resize to sizes": (
        11,
        "(float[1, 1, 3, 5] x) => (float[1, 1, 6, 7] y)"
        "<float[0] none = {}, int64[4] k = {1, 1, 6, 7}> { y = Resize (x, none, none, k) }",
    ),
    "Slice": (
        9,
        "(float[4, 6] x) => (float[2, 3] y)"
        "{ y = Slice <axes = [0, 1], starts = [1, -4], ends = [3, -1]> (x) }",
    ),
    "Slice without axes": (
        9, "(float[4, 6] x) => (float[2, 5] y) { y = Slice <starts = [1, 1], ends = [3, 99]> (x) }",
    ),
    "TopK": (9, "(float[4, 6] x) => (float[4, 2] y, int64[4, 2] i) { y, i = TopK <k = 2> (x) }"),
    "Dropout": (9, "(float[4, 6] x) => (float[4, 6] y) { y = Dropout <ratio = 0.25> (x) }"),
    "Dropout with a mask": (9, "(float[4, 6] x) => (float[4, 6] y) { y, m = Dropout (x) }"),
    "Clip": (10, "(float[4, 6] x) => (float[4, 6] y) { y = Clip <min = -0.5, max = 0.75> (x) }"),
    "Clip above": (10, "(float[4, 6] x) => (float[4, 6] y) { y = Clip <max = 0.75> (x) }"),
    "Pad": (
        10,
        "(float[2, 3] x) => (float[5, 6] y)"
        "{ y = Pad <mode = 'constant', pads = [1, 0, 2, 3], value = 1.5> (x) }",
    ),
    "Pad by reflection": (
        10,
        "(float[3, 3] x) => (float[5, 5] y)"
        "{ y = Pad <mode = 'reflect', pads = [1, 0, 1, 2]> (x) }",
    ),
    "Scatter": (
        10,
        "(float[3, 3] x, float[1, 2] u) => (float[3, 3] y) <int64[1, 2] i = {1, 2}>"
        "{ y = Scatter <axis = 1> (x, i, u) }",
    ),
    "Squeeze": (12, "(float[N, 1, 3, 1] x) => (float[N, 3, 1] y) { y = Squeeze <axes = [1]> (x) }"),
    "Unsqueeze": (
        12, "(float[N, S] x) => (float[N, 1, S, 1] y) { y = Unsqueeze <axes = [1, 3]> (x) }",
    ),
    "Split": (
        12,
        "(float[2, 6] x) => (float[2, 2] y, float[2, 4] z)"
        "{ y, z = Split <axis = 1, split = [2, 4]> (x) }",
    ),
    "Split equally": (
        12, "(float[2, 6] x) => (float[2, 3] y, float[2, 3] z) { y, z = Split <axis = 1> (x) }",
    ),
    "ReduceSum": (12, "(float[N, S] x) => (float[N, 1] y) { y = ReduceSum <axes = [1]> (x) }"),
    "Softmax": (11, "(float[2, 3, 4] x) => (float[2, 3, 4] y) { y = Softmax (x) }"),
    "Softmax of free sizes": (
        12, "(float[N, S, 4] x) => (float[N, S, 4] y) { y = LogSoftmax <axis = 1> (x) }",
    ),
    "Softmax along the last": (
        11, "(float[2, 3, 4] x) => (float[2, 3, 4] y) { y = Softmax <axis = 2> (x) }",
    ),
    "Hardmax": (11, "(float[2, 3] x) => (float[2, 3] y) { y = Hardmax <axis = 0> (x) }"),
    "RoiAlign": (
        15,
        "(float[1, 1, 6, 6] x) => (float[1, 1, 2, 2] y)"
        "<float[1, 4] r = {0.3, 0.6, 4.1, 5.2}, int64[1] i = {0}>"
        "{ y = RoiAlign <output_height = 2, output_width = 2> (x, r, i) }",
    ),
    "ReduceMean": (
        17,
        "(float[2, 3, 4] x) => (float[2, 4] y) { y = ReduceMean <axes = [1], keepdims = 0> (x) }",
    ),
    "ReduceMax of all": (17, "(float[2, 3] x) => (float[1, 1] y) { y = ReduceMax (x) }"),
    "DFT": (
        17, "(float[2, 8, 3, 1] x) => (float[2, 8, 3, 2] y) { y = DFT (x) }",
    ),
    "GridSample": (
        16,
        "(float[1, 1, 4, 4] x, float[1, 2, 2, 2] g) => (float[1, 1, 2, 2] y)"
        "{ y = GridSample <mode = 'bicubic'> (x, g) }",
    ),
    "GroupNormalization": (
        18,
        "(float[1, 4, 3] x) => (float[1, 4, 3] y) <float[2] s = {1, 2}, float[2] b = {3, 4}>"
        "{ y = GroupNormalization <num_groups = 2> (x, s, b) }",
    ),
}  # fmt: skip
"""Operators before they changed: the operator set, and a graph."""

OTHERWISE = {
    "Hardmax": "keeps the axis, along which alone it runs there",
    "Resize by lines": "leaves out that places are counted from the corner",
    "Resize to less": "likewise",
    "Resize to more": "likewise",
    "Upsample linear": "likewise",
}
"""What ONNX's own converter computes otherwise than the source, and how it comes to that."""
NEWEST_THAT_RUNS = {"RoiAlign": 21}


def model(name: str) -> onnx.ModelProto:
    opset, text = MODELS[name]
    text = text.replace("'", '"')
    return parsed(f'<ir_version: 8, opset_import: ["" : {opset}]> main {text}')


def raised(proto: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    done = opened(proto)
    trace = optimize(done, Pipeline((RaiseOpset(opset=opset),)))
    assert not trace.failed, trace.failed
    return proto_of(done.ir)


def opset_of(proto: onnx.ModelProto) -> int:
    return proto.opset_import[0].version


@pytest.mark.parametrize("name", MODELS)
def test_what_an_operator_was_in_an_older_set_it_computes_in_the_newest(name: str) -> None:
    source = model(name)
    feeds = feeds_for(source)
    wanted = run(source, feeds)
    newest = NEWEST_THAT_RUNS.get(name, NEWEST)
    new = raised(source, newest)
    assert opset_of(new) == newest
    onnx.checker.check_model(new)
    assert differences(wanted, run(new, feeds), exact=True) == []


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_converter_of_onnx_comes_to_the_same_where_it_has_a_form(name: str) -> None:
    source = model(name)
    feeds = feeds_for(source)
    try:
        theirs = cast("Any", version_converter).convert_version(source, NEWEST)
        wanted = run(theirs, feeds)
    except Exception as error:
        pytest.skip(f"{error}"[:100])
    found = differences(wanted, run(raised(source, NEWEST), feeds), exact=False)
    assert (found == []) == (name not in OTHERWISE)


def test_every_change_of_form_has_a_model() -> None:
    """Those that the runtime can still run before the change: from operator set 7 on."""
    named = {operator for (operator, version) in CONVERSIONS if version > 7}
    shown = {node.op_type for name in MODELS for node in model(name).graph.node}
    alike = {"Mean", "Min"} | {name for name in named if name.startswith("Reduce")}
    declining = {"AveragePool"}
    assert named - shown - alike - declining == {"LogSoftmax"} - shown


OLD = Path(onnx.backend.test.__file__).parent / "data"


def _old_cases() -> list[Path]:
    paths = sorted(OLD.glob("pytorch-*/*/model.onnx"))
    return [path.parent for path in paths if (path.parent / "test_data_set_0").is_dir()]


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(path, id=path.name, marks=[] if index % 20 == 0 else [pytest.mark.slow])
        for index, path in enumerate(_old_cases())
    ],
)
def test_models_of_operator_set_6_give_in_the_newest_what_onnx_says_they_give(
    folder: Path,
) -> None:
    source = onnx.load(folder / "model.onnx")
    data = folder / "test_data_set_0"

    def tensors(kind: str) -> list[np.ndarray]:
        count = len([*data.glob(f"{kind}_*.pb")])
        paths = [data / f"{kind}_{index}.pb" for index in range(count)]
        read = (onnx.TensorProto.FromString(path.read_bytes()) for path in paths)
        return [numpy_helper.to_array(tensor) for tensor in read]

    held = {tensor.name for tensor in source.graph.initializer}
    names = [value.name for value in source.graph.input if value.name not in held]
    new = raised(source, NEWEST)
    assert opset_of(new) == NEWEST
    found = run(new, dict(zip(names, tensors("input"), strict=True)))
    for wanted, got in zip(tensors("output"), found, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-4, equal_nan=True)


def test_nodes_in_bodies_are_raised_with_the_rest_and_undone_with_it() -> None:
    source = parsed("""
    <ir_version: 8, opset_import: ["" : 12]>
    main (float[2, 3] x, bool c) => (float[2, 3, 1] y)
    {
      y = If (c) <
        then_branch = t () => (float[2, 3, 1] p) { q = Softmax (x) p = Unsqueeze <axes = [2]> (q) },
        else_branch = e () => (float[2, 3, 1] r) { r = Unsqueeze <axes = [2]> (x) }
      >
    }
    """)
    done = opened(source)
    before = proto_of(done.ir)
    cursor = Cursor.at_end(optimize(done, Pipeline((RaiseOpset(),))))
    (step,) = cursor.trace.rewrites
    assert "2 Unsqueeze" in step.reason
    new = onnx.load_model_from_string(cursor.materialize(1))
    onnx.checker.check_model(new)
    for chosen in (True, False):
        feeds = {**feeds_for(source), "c": np.array(chosen)}
        assert differences(run(before, feeds), run(new, feeds), exact=True) == []
    assert onnx.load_model_from_string(cursor.materialize(0)) == before
    provenance = Provenance(cursor.trace)
    assert sorted(provenance.origins(node) for node in step.added) == [("n2",), ("n3",)]
