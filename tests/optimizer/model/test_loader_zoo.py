"""Real and odd models, where `PASSLENS_ZOO` says they are: all legal ones open.

They are other people's work and not part of this project; without them these tests are skipped.
"""

from __future__ import annotations

import os
from pathlib import Path

import onnx
import pytest

from optimizer.errors import StudioError
from optimizer.model.loader import load_path
from optimizer.model.writer import to_bytes

ZOO = Path(os.environ.get("PASSLENS_ZOO", "no zoo"))
MODELS = sorted(path for folder in ("nasty", "trained") for path in ZOO.glob(f"{folder}/*.onnx"))
ODD_MODELS = sorted(ZOO.glob("ort_edge/**/*.onnx"))

REFUSED = {
    "add_opset_314159.onnx": "Opset 314159",
    "attr_tester.onnx": "not imported",
    "copy_2_inputs_2_outputs.onnx": "not imported",
    "custom_op_single_schema_multi_kernel.onnx": "not imported",
    "icm-31000000518483.onnx": "If has 1 inputs",
    "merge.onnx": "not imported",
    "pyop_1.onnx": "not imported",
    "qnn_multi_ctx_embed.onnx": "EPContext",
    "sparse_initializer_as_output.onnx": "SPARSE_TENSOR",
    "test_kernel_info_get_const_input.onnx": "not imported",
}
"""Odd models that break ONNX's rules, and the reason in our words."""

pytestmark = pytest.mark.skipif(not MODELS, reason="PASSLENS_ZOO is not set")


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_legal_model_opens_and_can_be_written(path: Path) -> None:
    model = load_path(path)
    assert not any(finding.severity == "error" for finding in model.findings)
    if model.statuses.optimizable.ok:
        written = onnx.ModelProto.FromString(to_bytes(model.ir))
        assert len(written.graph.node) == len(model.ir.graph)


@pytest.mark.parametrize("path", ODD_MODELS, ids=lambda path: path.stem)
def test_an_odd_model_opens_or_is_refused_for_the_known_reason(path: Path) -> None:
    if path.name not in REFUSED:
        assert load_path(path).statuses.viewable.ok
        return
    with pytest.raises(StudioError, match=REFUSED[path.name]):
        load_path(path)


def test_the_model_with_a_map_output_can_be_viewed() -> None:
    (path,) = ZOO.glob("trained/pub_squeezenet_winml_tensor_input.onnx")
    statuses = load_path(path).statuses
    assert statuses.viewable.ok
    assert not statuses.optimizable.ok
    assert "Map types" in statuses.optimizable.reason
