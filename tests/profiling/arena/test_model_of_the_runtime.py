"""The model of ONNX Runtime's memory against ONNX Runtime itself: blocks to the byte, and order."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings

from benchmarks.branches import NETWORKS, cells, encoder
from benchmarks.rewritten import rewritten
from benchmarks.runtime_block.model import runtime_lifetimes
from benchmarks.runtime_block.sharing import shared_operators
from optimizer.memory.registry import make_plan
from optimizer.model.graph import Model, node_id
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.runtime.graph import runtime_nodes
from optimizer.runtime.order import in_order, runtime_order
from optimizer.source import complete
from profiling.arena.measurement import measure_arena
from profiling.config import RunConfig
from profiling.workers import WorkerPool
from tests.optimizer.graphs import loaded, parsed
from tests.optimizer.random_blocks import ALL_PATTERNS
from tests.optimizer.random_graphs import models, some_of
from tests.optimizer.running import SIZES

pytestmark = pytest.mark.long

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
NO_SIZES: Mapping[str, int] = {}


BOTH = (RunConfig(memory_reuse=False), RunConfig(memory_reuse=True))


def check(
    model: Model,
    pool: WorkerPool,
    sizes: Mapping[str, int] = NO_SIZES,
    configs: Sequence[RunConfig] = BOTH,
) -> None:
    """Order and block are the measured ones, with and without reuse of dead buffers."""
    graph = model.ir.graph
    names = {node_id(node): node.name for node in graph}
    data = to_bytes(model.ir)
    for config in configs:
        running = in_order(runtime_nodes(graph), config.execution_order)
        order = [one.id for one in running]
        arena = runtime_lifetimes(graph, sizes=sizes, reuse=config.memory_reuse, order=order)
        measured = measure_arena(data, config, pool=pool, sizes=sizes)
        assert [names[identity] for identity in arena.nodes] == _named(model, measured.order)
        plan = make_plan("runtime-pattern", arena.buffers())
        assert plan.peak_bytes == measured.block_bytes


def _named(model: Model, order: Sequence[str]) -> list[str]:
    """The Cast that a CastLike becomes has a name of the runtime's."""
    ours = {node.name for node in model.ir.graph}
    theirs = iter([n.name or "" for n in model.ir.graph if n.op_type == "CastLike"])
    return [name if name in ours else next(theirs) for name in order]


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_networks_of_branches_need_the_modelled_block(name: str, shared_pool: WorkerPool) -> None:
    model = load_bytes(to_bytes(NETWORKS[name]()), name=name)
    sizes = {"batch": 1, "seq": 16} if name == "bert4_dyn" else NO_SIZES
    check(complete(model, isolate=shared_pool), shared_pool, sizes)


@pytest.mark.parametrize("name", ["shufflenet", "squeezenet", "inception_v2"])
def test_networks_of_the_onnx_package_need_the_modelled_block(
    name: str, shared_pool: WorkerPool
) -> None:
    path = LIGHT / f"light_{name}.onnx"
    if not path.exists():
        pytest.skip("the onnx package comes without its light models")
    data = rewritten(path, RunConfig(graph_optimization="basic"), pool=shared_pool)
    check(complete(load_bytes(data, name=name), isolate=shared_pool), shared_pool)


@settings(max_examples=15)
@given(models(some_of(ALL_PATTERNS)))
def test_any_graph_needs_the_modelled_block(
    shared_pool: WorkerPool, proto: onnx.ModelProto
) -> None:
    model = loaded(proto)
    values = [value for node in model.ir.graph for value in node.outputs]
    if all(value.dtype != ir.DataType.FLOAT16 for value in values):
        check(model, shared_pool, SIZES)


def test_what_reads_past_a_joined_cast_runs_before_what_that_read(
    shared_pool: WorkerPool,
) -> None:
    model = loaded(
        parsed("""<ir_version: 9, opset_import: ["" : 18]>
        g (float[2] x) => (double[2] wide, float[2] y) {
            [wide] wide = Cast<to = 11>(x)
            [back] back = Cast<to = 1>(wide)
            [last] y = Identity(back)
        }""")
    )
    assert runtime_order(model.ir.graph) == ("n0", "n1", "n2")
    check(model, shared_pool)


def test_by_priority_the_files_order_needs_the_modelled_block(shared_pool: WorkerPool) -> None:
    model = complete(load_bytes(to_bytes(cells()), name="cells"), isolate=shared_pool)
    check(model, shared_pool, configs=[RunConfig(execution_order="priority")])


def test_a_network_of_another_size_needs_another_block(shared_pool: WorkerPool) -> None:
    model = load_bytes(to_bytes(encoder("batch", "seq")), name="encoder")
    model = complete(model, isolate=shared_pool)
    for tokens in (3, 50):
        check(model, shared_pool, {"batch": 2, "seq": tokens})


BRANCHED = """<ir_version: 9, opset_import: ["" : 18]>
g (float[32,16] x) => (float[16,32] y) {
[zero] zero = Constant<value = float {0.0}>()
[a] a = Transpose<perm = [1, 0]>(x)
[b] b = Transpose<perm = [1, 0]>(a)
[sum] s = ReduceSum<keepdims = 0>(b)
[positive] c = Greater(s, zero)
[if] i = If(c) <
    then_branch = yes () => (float[32,16] t) { t = Exp(b) },
    else_branch = no () => (float[32,16] e) { u = Neg(b) e = Neg(u) }
>
[d] d = Add(i, b)
[e] y = Transpose<perm = [1, 0]>(d)
}"""


def test_what_bodies_need_is_not_in_the_block(shared_pool: WorkerPool) -> None:
    check(loaded(parsed(BRANCHED)), shared_pool)


CASTS = {
    "BOOL": "bool", "UINT8": "uint8", "INT32": "int32", "INT64": "int64", "FLOAT16": "float16",
    "FLOAT": "float", "DOUBLE": "double",
}  # fmt: skip


def test_the_runtime_joins_the_casts_that_the_model_joins(shared_pool: WorkerPool) -> None:
    """Every pair of casts that follow each other, one beside the other."""
    kept = {name: text for name, text in CASTS.items() if name != "FLOAT16"}
    lines: list[str] = []
    outputs: list[str] = []
    for number, (first, second, third) in enumerate(itertools.product(kept, CASTS, kept)):
        to = [ir.DataType[name].value for name in (second, third)]
        lines.append(f"[a{number}] a{number} = Transpose<perm = [0]>({first})")
        lines.append(f"[b{number}] b{number} = Cast<to = {to[0]}>(a{number})")
        lines.append(f"[c{number}] c{number} = Cast<to = {to[1]}>(b{number})")
        lines.append(f"[d{number}] d{number} = Transpose<perm = [0]>(c{number})")
        outputs.append(f"{kept[third]}[2] d{number}")
    inputs = ", ".join(f"{text}[2] {name}" for name, text in kept.items())
    body = "\n".join(lines)
    text = f"g ({inputs}) => ({', '.join(outputs)}) {{\n{body}\n}}"
    check(loaded(parsed(f'<ir_version: 9, opset_import: ["" : 18]>\n{text}')), shared_pool)


_M = "float[2,4,8,8]"
PROBES = {
    "BitCast": ("float[4,8] x", "int32[4,8]", "BitCast<to = 6>(i0)"),
    "Cast": ("int32[4,8] x", "float[4,8]", "Cast<to = 1>(i0)"),
    "CastLike": ("float[4,8] x, int32[4,8] k", "int32[4,8]", "CastLike(i0, i1)"),
    "Scatter": ("float[4,8] x, int64[1,8] i, float[1,8] u", "float[4,8]", "Scatter(i0, i1, i2)"),
    "ScatterElements": (
        "float[4,8] x, int64[1,8] i, float[1,8] u", "float[4,8]", "ScatterElements(i0, i1, i2)",
    ),
    "TensorScatter": (
        "float[2,4,8] x, float[2,1,8] u, int64[2] w", "float[2,4,8]", "TensorScatter(i0, i1, i2)",
    ),
    "Reshape": ("float[4,8] x, int64[1] s", "float[32]", "Reshape(i0, minus_one)"),
    "Flatten": ("float[4,8] x", "float[4,8]", "Flatten(i0)"),
    "Squeeze": ("float[4,8,1] x", "float[4,8]", "Squeeze(i0)"),
    "Unsqueeze": ("float[4,8] x", "float[1,4,8]", "Unsqueeze(i0, zero)"),
    "BatchNormalization": (
        f"{_M} x, float[4] s, float[4] b, float[4] m, float[4] v", _M,
        "BatchNormalization(i0, i1, i2, i3, i4)",
    ),
    "FusedConv": (
        f"{_M} x, float[4,4,3,3] w, float[4] b, {_M} z", _M,
        "com.microsoft.FusedConv<pads = [1, 1, 1, 1]>(i0, i1, i2, i3)",
    ),
}  # fmt: skip
_OLD, _NEW = {"Scatter": 10}, {"BitCast": 26, "TensorScatter": 24}
UNTESTED = frozenset({"OptionalGetElement"})  # of optionals, which no model here has
LEFT_ALONE = (
    "Abs", "Add", "And", "Div", "Erf", "Exp", "Gelu", "LRN", "LayerNormalization", "Max",
    "Mul", "Neg", "PRelu", "Sqrt", "Sub", "Sum",
)  # fmt: skip


def probe(name: str) -> str:
    """A graph in which the operator could take memory from any input, if its kernel did."""
    inputs, output, call = PROBES.get(name, ("float[4,8] x", "float[4,8]", f"{name}(i0)"))
    if name in ("Add", "And", "Div", "Max", "Mul", "PRelu", "Sub", "Sum"):
        kind = "bool" if name == "And" else "float"
        inputs, output = f"{kind}[4,8] x, {kind}[4,8] z", f"{kind}[4,8]"
        call = f"{name}(i0, i1)"
    if name == "LRN":
        inputs, output, call = f"{_M} x", _M, "LRN<size = 3>(i0)"
    if name == "LayerNormalization":
        inputs, call = "float[4,8] x, float[8] s", "LayerNormalization(i0, i1)"
    opset = _OLD.get(name) or _NEW.get(name, 20)
    copies = [
        f"[p{i}] i{i} = Concat<axis = 0>({declared.split()[1]})"
        for i, declared in enumerate(inputs.split(", "))
    ]
    constants = [
        "zero = Constant<value = int64[1] {0}>()",
        "minus_one = Constant<value = int64[1] {-1}>()",
    ]
    lines = [*constants, *copies, f"[it] o = {call}", "[last] y = Concat<axis = 0>(o)"]
    head = f'<ir_version: 10, opset_import: ["" : {opset}, "com.microsoft" : 1]>'
    return f"{head}\ng ({inputs}) => ({output} y) {{\n" + "\n".join(lines) + "\n}"


@pytest.mark.parametrize(
    "name", [*(n for _, n in shared_operators() if n not in UNTESTED), *LEFT_ALONE]
)
def test_kernels_take_memory_from_their_inputs_as_the_table_says(
    name: str, shared_pool: WorkerPool
) -> None:
    check(loaded(parsed(probe(name))), shared_pool)
