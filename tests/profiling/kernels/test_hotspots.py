from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from optimizer.model.loader import load_bytes
from optimizer.passes.kernels.block import blocks_of
from optimizer.verify import Tolerance
from optimizer.verify.comparison import compare_output
from optimizer.verify.runtime import Session, as_file
from profiling.config import RunConfig
from profiling.kernels.hotspots import Hotspots, find_hotspots
from profiling.racing.race import Variant
from profiling.workers import WorkerPool


def run_with(model: bytes, inputs: bytes) -> dict[str, Any]:
    """All outputs of a model; runs in a worker."""
    with np.load(io.BytesIO(inputs)) as arrays:
        return Session(as_file(model)).run(dict(arrays))


def packed(arrays: Mapping[str, Any]) -> bytes:
    data = io.BytesIO()
    np.savez(data, **arrays)
    return data.getvalue()


def exposed(model: bytes, wanted: list[str]) -> bytes:
    """The model with these intermediate values as outputs, too."""
    proto = onnx.load_from_string(model)
    there = {output.name for output in proto.graph.output}
    for name in wanted:
        if name not in there:
            proto.graph.output.append(onnx.ValueInfoProto(name=name))
    return proto.SerializeToString()


def named(model: bytes) -> onnx.ModelProto:
    """The model with the node names that the loader gives."""
    proto = onnx.load_from_string(model)
    loaded = load_bytes(model, name="m.onnx").ir
    for node, known in zip(proto.graph.node, loaded.graph, strict=True):
        node.name = known.name or ""
    return proto


def inputs_of(model: bytes) -> dict[str, Any]:
    proto = onnx.load_from_string(model)
    weights = {tensor.name for tensor in proto.graph.initializer}
    generator = np.random.default_rng(7)
    return {
        value.name: generator.standard_normal(
            [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for value in proto.graph.input
        if value.name not in weights
    }


@pytest.fixture(scope="module")
def hot_convolutions(convolutions: bytes, shared_pool: WorkerPool) -> Hotspots:
    return find_hotspots(Variant("m", convolutions), isolate=shared_pool)


def test_equal_work_counts_together_and_other_sizes_do_not(
    hot_convolutions: Hotspots,
) -> None:
    found = {
        operator.workload.operators: len(operator.nodes) for operator in hot_convolutions.operators
    }
    assert hot_convolutions.source == "runtime profile"
    assert found == {
        ("Conv", "BatchNormalization", "Relu"): 1,
        ("Conv", "Relu"): 2,
        ("Conv", "Add", "Relu"): 1,
    }
    assert sum(operator.share for operator in hot_convolutions.operators) == pytest.approx(1)
    times = [operator.time_us for operator in hot_convolutions.operators]
    assert times == sorted(times, reverse=True)


def test_a_workload_has_one_hash_whatever_its_weights_and_names_are(
    hot_convolutions: Hotspots, convolutions: bytes, shared_pool: WorkerPool
) -> None:
    renamed = onnx.load_from_string(convolutions)
    for node in renamed.graph.node:
        node.name = f"other_{node.output[0]}"
    again = find_hotspots(Variant("m", renamed.SerializeToString()), isolate=shared_pool)
    keys = {operator.workload.key for operator in hot_convolutions.operators}
    assert {operator.workload.key for operator in again.operators} == keys
    wider = onnx.load_from_string(convolutions)
    for value in (*wider.graph.input, *wider.graph.output):
        value.type.tensor_type.shape.dim[2].dim_value = 20
    other = find_hotspots(Variant("m", wider.SerializeToString()), isolate=shared_pool)
    assert not keys & {operator.workload.key for operator in other.operators}


@pytest.mark.parametrize("fixture", ["convolutions", "attention"])
def test_an_extracted_workload_computes_what_its_nodes_compute_in_the_model(
    fixture: str, request: pytest.FixtureRequest, shared_pool: WorkerPool
) -> None:
    model: bytes = request.getfixturevalue(fixture)
    proto = named(model)
    hot = find_hotspots(Variant("m", model), isolate=shared_pool, top=20)
    loaded = load_bytes(proto.SerializeToString(), name="m.onnx").ir
    blocks = {block.nodes[-1].name: block for block in blocks_of(loaded.graph)}
    given = inputs_of(model)
    checked = 0
    for operator in hot.operators:
        if not operator.model:
            continue
        block = blocks[operator.nodes[0][-1]]
        alone = onnx.load_from_string(operator.model)
        inside = {tensor.name for tensor in proto.graph.initializer}
        outer = [v.name or "" for v in block.inputs if v.name not in inside]
        result = block.output.name or ""
        wanted = [name for name in (*outer, result) if name not in given]
        whole = shared_pool(run_with, exposed(proto.SerializeToString(), wanted), packed(given))
        known = {**given, **whole}
        feeds = {
            value.name: known[name] for value, name in zip(alone.graph.input, outer, strict=True)
        }
        found = shared_pool(run_with, operator.model, packed(feeds))
        same = compare_output(
            "result", known[result], found["result"], tolerance=Tolerance(rtol=1e-6)
        )
        assert same.ok, (operator.workload.title, same.reason)
        assert not same.constant
        checked += 1
    assert checked >= 3


def test_attention_is_one_workload_with_its_scale_and_mask(
    attention: bytes, shared_pool: WorkerPool
) -> None:
    hot = find_hotspots(Variant("m", attention), isolate=shared_pool)
    found = next(o for o in hot.operators if o.workload.kind == "Attention")
    assert found.workload.operators == ("MatMul", "Div", "Add", "Softmax", "MatMul")
    assert [str(size) for size in found.workload.inputs] == [
        "2×4×12×8", "2×4×8×12", "2×1×1×12", "2×4×12×8",
    ]  # fmt: skip


def test_free_sizes_become_those_of_the_run(
    write_model: Callable[..., bytes], shared_pool: WorkerPool
) -> None:
    model = write_model(
        "g (float[batch,64] x) => (float[batch,512] y) { y = MatMul(x, w) }",
        {"w": np.ones((64, 512), np.float32)},
    )
    hot = find_hotspots(Variant("m", model), isolate=shared_pool)
    alone = onnx.load_from_string(hot.operators[0].model)
    (shape,) = [value.type.tensor_type.shape for value in alone.graph.input]
    assert all(dim.dim_value > 0 for dim in shape.dim)


def test_a_model_that_does_not_run_is_judged_by_its_static_cost(
    write_model: Callable[..., bytes], shared_pool: WorkerPool
) -> None:
    model = write_model(
        """g (float[64,64] x, complex64[1] unused) => (float[64,64] y, complex64[1] z) {
            a = MatMul(x, w)
            y = Relu(a)
            z = Identity(unused)
        }""",
        {"w": np.ones((64, 64), np.float32)},
    )
    hot = find_hotspots(Variant("m", model), isolate=shared_pool)
    assert hot.source == "static cost"
    assert hot.remark
    assert hot.operators[0].workload.operators == ("MatMul", "Relu")
    assert hot.operators[0].model


def test_the_runtimes_own_rewrites_are_off_while_the_file_is_profiled(
    convolutions: bytes, shared_pool: WorkerPool
) -> None:
    fused = Variant("m", convolutions, RunConfig(graph_optimization="all"))
    hot = find_hotspots(fused, isolate=shared_pool)
    assert {node for o in hot.operators for nodes in o.nodes for node in nodes} == {
        node.name for node in named(convolutions).graph.node
    }
    assert Path("named.onnx").exists() is False
