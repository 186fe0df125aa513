"""Which forms of a network are one graph once the runtime has rewritten them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from profiling.execution.fingerprint import fingerprint
from profiling.kernels.generated.rivals import UNFUSED, distinct, forms_of
from profiling.workers import WorkerPool
from tests.profiling.kernels.models import floats, parsed

PRODUCT = "g (float[4,8] x) => (float[4,8] y) { a = MatMul(x, w) b = Identity(a) y = Add(b, v) }"
RENAMED = "g (float[4,8] x) => (float[4,8] y) { c = MatMul(x, k) y = Add(c, m) }"
GELU = """g (float[4,8] x) => (float[4,8] y) {
    a = Add(x, v)
    y = Gelu(a)
}"""


def written(folder: Path, name: str, text: str, **weights: np.ndarray) -> Path:
    path = folder / f"{name}.onnx"
    path.write_bytes(parsed(text, weights, opset=20))
    return path


def test_a_file_that_the_runtime_makes_the_same_graph_of_is_raced_once(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    product, bias = floats(8, 8), floats(8)
    files = {
        "source": written(tmp_path, "source", PRODUCT, w=product, v=bias),
        "renamed": written(tmp_path, "renamed", RENAMED, k=product, m=bias),
        "other": written(tmp_path, "other", RENAMED, k=product + np.float32(1), m=bias),
        "none": tmp_path / "none.onnx",
    }
    files["none"].write_bytes(b"nothing")
    found, refused = distinct(forms_of(files, 1), pool=shared_pool)
    assert [one.label for one in found] == ["source", "other"]
    assert found[0].same == ("renamed", f"source {UNFUSED}", f"renamed {UNFUSED}")
    assert {*refused} == {"none", f"none {UNFUSED}"}


def test_without_its_slow_fusions_a_graph_that_had_them_is_another(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    files = {"source": written(tmp_path, "gelu", GELU, v=floats(8))}
    found, _ = distinct(forms_of(files, 1), pool=shared_pool)
    assert [one.label for one in found] == ["source", f"source {UNFUSED}"]
    assert [one.same for one in found] == [(), ()]


def test_names_do_not_count_and_attributes_do() -> None:
    def softmax(axis: int, name: str) -> str:
        model = parsed(f"g (float[4,8] x) => (float[4,8] y) {{ y = Softmax<axis={axis}>(x) }}", {})
        graph = ir.from_proto(onnx.load_from_string(model)).graph
        next(iter(graph)).name = name
        return fingerprint(graph)

    assert softmax(1, "a") == softmax(1, "b") != softmax(0, "a")
