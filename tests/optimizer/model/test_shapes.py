"""Completing shapes from several sources, none of which may overwrite what is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, Unpack, cast

import onnx
import onnx_ir as ir
import pytest

from optimizer.errors import WorkerCrashed
from optimizer.isolation import JobOptions
from optimizer.limits import JobLimits
from optimizer.model import shapes
from optimizer.model.graph import Model
from optimizer.model.inference_jobs import infer_with_onnx, infer_with_runtime, weight_free
from optimizer.model.shapes import infer_shapes

Result = TypeVar("Result")
LIMITS = JobLimits()


def here(function: Callable[..., Result], *args: object, **options: Unpack[JobOptions]) -> Result:
    """Runs the job in this process."""
    return function(*args)


def crashing(
    function: Callable[..., Result], *args: object, **options: Unpack[JobOptions]
) -> Result:
    """Every job dies."""
    raise WorkerCrashed("The worker died of SIGSEGV.", signal_name="SIGSEGV")


def model_of(body: str) -> Model:
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17, "my" : 1]>{body}')
    return Model(ir=ir.from_proto(proto), name="test", digest="")


# Loops are not followed by our own rules; ONNX infers their scan outputs from the body.
LOOP = """
g (float["n", 4] x, int64 times, bool go) => (z)
{
  y = Loop (times, go) <
    body = b (int64 i, bool before) => (bool after, p) { after = Identity(before) p = Relu(x) }
  >
  z = Relu(y)
}
"""


def test_our_own_rules_come_first_and_alone_where_they_suffice() -> None:
    model = model_of('g (float["n"] x) => (y) { h = Relu(x) y = Neg(h) }')
    assert infer_shapes(model, isolate=crashing) == ()
    assert [str(node.outputs[0].shape) for node in model.ir.graph] == ["[n]", "[n]"]


def test_what_we_do_not_know_is_asked_of_onnx_and_carried_further() -> None:
    model = model_of(LOOP)
    assert infer_shapes(model, isolate=here) == ()
    assert [str(node.outputs[0].shape) for node in model.ir.graph] == ["[None,n,4]"] * 2


def test_nobody_is_asked_where_our_own_rules_say_that_a_size_hangs_on_two_others() -> None:
    model = model_of("""
    g (float["a", 2] x, float["b", 2] y, bool go) => (z)
    {
      s = Add(x, y)
      t = Relu(s)
      z = If (go) <
        then_branch = p () => (u) { u = Neg(t) },
        else_branch = q () => (w) { w = Transpose(t) }
      >
    }
    """)
    assert infer_shapes(model, isolate=crashing) == ()
    assert [str(node.outputs[0].shape) for node in model.ir.graph] == ["[None,2]"] * 2 + [
        "[None,None]"
    ]


def test_onnx_is_asked_for_shapes_that_a_default_decides() -> None:
    model = model_of("""
    g (float[2, 6] x, int64[2] target = {3, 4}) => (y) { h = Reshape(x, target) y = Relu(h) }
    """)
    infer_shapes(model, isolate=here)
    assert [str(node.outputs[0].shape) for node in model.ir.graph] == ["[3,4]"] * 2


def test_a_crash_of_the_worker_is_a_finding_and_not_an_error() -> None:
    model = model_of(LOOP)
    findings = infer_shapes(model, isolate=crashing)
    assert [node.outputs[0].shape for node in model.ir.graph] == [None, None]
    assert [finding.severity for finding in findings] == ["note"]
    assert "onnx failed: The worker died of SIGSEGV." in findings[0].message


def test_the_runtime_is_asked_about_operators_that_onnx_does_not_define() -> None:
    asked: list[str] = []

    def listening(
        function: Callable[..., Result], *args: object, **options: Unpack[JobOptions]
    ) -> Result:
        asked.append(function.__name__)
        return function(*args)

    infer_shapes(model_of(LOOP), isolate=listening)
    assert asked == ["infer_with_onnx"]
    body = """
    g (float[2, 4, 6] x, float[6] b) => (z) { y = com.microsoft.BiasSplitGelu(x, b) z = Relu(y) }
    """
    model = model_of(body)
    model.ir.opset_imports["com.microsoft"] = 1
    infer_shapes(model, isolate=listening)
    assert asked == ["infer_with_onnx", "infer_with_runtime"]
    assert [str(node.outputs[0].shape) for node in model.ir.graph] == ["[2,4,3]", "[2,4,3]"]


def test_a_contradiction_is_a_finding_and_the_declared_number_stays() -> None:
    model = model_of("g (float[2, 3] x) => (float[2, 4] y) { y = Relu(x) }")
    (finding,) = infer_shapes(model, isolate=here)
    assert "computed as" in finding.message
    assert model.ir.graph.outputs[0].shape == [2, 4]


def test_free_dimensions_of_inputs_stay_free() -> None:
    model = model_of(
        'g (float["batch", "seq"] x, float[1, 512] m) => (y) { h = my.Op(x) y = Add(x, m) }'
    )
    infer_shapes(model, isolate=here)
    assert str(model.ir.graph.inputs[0].shape) == "[batch,seq]"


def test_names_that_an_inference_invents_are_not_taken_over() -> None:
    model = model_of("g (float[3] x) => (y) { y = NonZero(x) h = my.Op(y) z = Relu(h) }")

    def inventing(
        function: Callable[..., Result], *args: object, **options: Unpack[JobOptions]
    ) -> Result:
        return cast("Result", [{"y": (7, (1, "unk__3")), "h": (1, (-5, "a+b", 9))}])

    infer_shapes(model, isolate=inventing)
    by_name = {v.name: v for node in model.ir.graph for v in node.outputs}
    assert str(by_name["y"].shape) == "[1,None]"
    assert str(by_name["h"].shape) == "[None,None,9]"


def test_weights_do_not_travel_and_small_integers_do() -> None:
    body = """
    g (float[1024] x) => (y)
    <int64[2] target = {32, 32}>
    { h = Mul(x, w) y = Reshape(h, target) }
    """
    model = model_of(body).ir
    tensor = ir.tensor(list(range(100_000)), dtype=ir.DataType.FLOAT, name="w")
    weight = ir.Value(
        name="w",
        const_value=tensor,
        shape=ir.Shape([100_000]),
        type=ir.TensorType(ir.DataType.FLOAT),
    )
    model.graph.initializers["w"] = weight
    data = weight_free(model)
    assert len(data) < 1000
    proto = onnx.load_from_string(data)
    assert [t.name for t in proto.graph.initializer] == ["target"]
    assert [value.name for value in proto.graph.input] == ["x", "w"]


def test_both_native_inferences_answer_by_graph_and_name() -> None:
    data = weight_free(model_of(LOOP).ir)
    for job in (infer_with_onnx, infer_with_runtime):
        main, body = job(data)
        element, dims = main["z"]
        assert element == 1
        assert dims is not None
        assert dims[1:] == ("n", 4)
        assert body["p"] == (1, ("n", 4))


def test_large_graphs_are_spared_the_slow_inference() -> None:
    assert shapes.RUNTIME_NODES < shapes.ONNX_NODES


def test_an_incomplete_inference_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body = """
    g (float[n, 4] x) => (z) { y = my.Thing(x) z = Relu(y) }
    """
    assert infer_with_runtime(weight_free(model_of(body).ir)) == []
    assert list(tmp_path.iterdir()) == []
