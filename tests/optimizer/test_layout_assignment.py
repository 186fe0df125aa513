"""What an assignment says of a whole network, counted once more from what runs."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from optimizer.layout.targets import TARGETS
from optimizer.layout_assignment import assign_layouts
from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from optimizer.model.writer import to_bytes
from optimizer.rewrite.replay import Cursor
from studio import gallery
from tests.optimizer.running import run


def _sizes(file: bytes, names: set[str]) -> list[int]:
    """Bytes of these values as they come out of a run."""
    proto = onnx.load_model_from_string(file)
    del proto.graph.output[:]
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(names))
    image = proto.graph.input[0]
    shape = [dim.dim_value or 1 for dim in image.type.tensor_type.shape.dim]
    return [array.nbytes for array in run(proto, {image.name: np.zeros(shape, np.float32)})]


@pytest.mark.long
def test_padding_of_resnet_50_is_what_its_arrays_hold() -> None:
    model = load_path(gallery.open_path("resnet50"))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    found = assign_layouts(model, TARGETS["nc1hwc0"])
    assert found.certificate == "exact"
    assert found.moved["Conv"] == 53
    blocks = {
        value.name or ""
        for node in model.ir.graph
        for value in node.outputs
        if value.shape is not None and len(value.shape) == 5
    }
    names = {one.name for one in found.wastes}
    assert len(blocks) == len(names)
    assert sum(_sizes(to_bytes(model.ir), blocks)) == sum(one.filled for one in found.wastes)
    cursor = Cursor.at_end(found.trace)
    first = next(r.step for r in found.trace.rewrites if r.pass_id.startswith("assign"))
    plain = [one.plain for one in found.wastes if one.name in names - {"pixel_values"}]
    before = cursor.materialize(first - 1)
    assert sum(_sizes(before, names - {"pixel_values"})) == sum(plain)
    # Three channels of the image take a block of sixteen; all others are multiples of sixteen.
    image = 3 * 224 * 224 * 4
    assert [one.bytes for one in found.wastes if one.bytes] == [image * 13 // 3]
