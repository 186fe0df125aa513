from __future__ import annotations

import itertools
import math
import random

import onnx_ir as ir
import pytest

from optimizer.precision.assignment import assigned
from optimizer.precision.float_formats import FORMATS
from tests.optimizer.graphs import opened

HALF = FORMATS["float16"]
SIZE = 4


def network(seed: int) -> str:
    """Nodes of two sizes, some of one format for certain, values with several readers."""
    drawn = random.Random(seed)
    wide, narrow, lines = ["x", "w"], ["t"], list[str]()
    for number in range(drawn.randint(4, 9)):
        name, a, b = f"v{number}", drawn.choice(wide), drawn.choice(narrow)
        kind = drawn.choice(["Relu", "Add", "Add", "MatMul", "Exp", "ReduceMax", "Mul", "Tanh"])
        match kind:
            case "ReduceMax":
                lines.append(f"{name} = ReduceMax<axes = [1]>({a})")
                narrow.append(name)
                continue
            case "Add" | "Mul":
                lines.append(f"{name} = {kind}({a}, {drawn.choice([b, *wide[:1]])})")
            case "MatMul":
                lines.append(f"{name} = MatMul({a}, {drawn.choice(['w', *wide])})")
            case _:
                lines.append(f"{name} = {kind}({a})")
        wide.append(name)
    outputs = ", ".join(f"float[{SIZE},{SIZE}] {n}" for n in wide[-1:] if n.startswith("v"))
    weights = ", ".join(["0.5"] * SIZE * SIZE)
    return (
        '<ir_version: 8, opset_import: ["" : 17]> '
        f"g (float[{SIZE},{SIZE}] x, float[{SIZE},1] t) => ({outputs or 'float[4,1] t2'}) "
        f"<float[{SIZE},{SIZE}] w = {{{weights}}}> {{ {' '.join(lines)} t2 = Abs(t) }}"
    )


class Prices:
    """Bytes moved: by nodes, by casts, and those of the constant in each format it is read in."""

    def __init__(self, graph: ir.Graph) -> None:
        self.nodes = list(graph)
        self.number = {node: index for index, node in enumerate(self.nodes)}
        values = [*graph.inputs, *(v for node in graph for v in node.outputs)]
        self.casts = [
            (elements(value), self._number(value), self._readers(value), value.is_graph_output())
            for value in values
        ]
        self.moved = [
            sum(elements(v) for v in node.inputs if v is not None and v.name != "w")
            + sum(elements(v) for v in node.outputs if v.uses() or v.is_graph_output())
            for node in graph
        ]
        self.weight = self._readers(graph.initializers["w"])

    def _number(self, value: ir.Value) -> int:
        maker = value.producer()
        return -1 if maker is None else self.number[maker]

    def _readers(self, value: ir.Value) -> set[int]:
        return {self.number[use.node] for use in value.uses()}

    def of(self, widths: list[int]) -> int:
        total = sum(width * moved for width, moved in zip(widths, self.moved, strict=True))
        for size, maker, readers, is_output in self.casts:
            wanted = {widths[reader] for reader in readers} | ({4} if is_output else set[int]())
            if wanted - {4 if maker < 0 else widths[maker]}:
                total += 6 * size
        return total + sum(width * SIZE * SIZE for width in {widths[r] for r in self.weight})


def elements(value: ir.Value) -> int:
    assert value.shape is not None
    return math.prod(value.shape.numpy())


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_no_other_choice_moves_fewer_bytes(first: int) -> None:
    for seed in range(first, first + 50):
        graph = opened(network(seed)).ir.graph
        found = assigned(graph, HALF, {"": 17})
        prices = Prices(graph)
        options = [[2] if n.op_type == "MatMul" else [4] if critical(n) else [2, 4] for n in graph]
        fewest = min(prices.of([*widths]) for widths in itertools.product(*options))
        assert prices.of([2 if node in found.sixteen else 4 for node in graph]) == fewest, seed


def critical(node: ir.Node) -> bool:
    return node.op_type == "Exp" or (node.op_type == "Mul" and node.inputs[0] is node.inputs[1])


def test_what_is_kept_stays_itself_and_what_was_derived_from_it() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,2] x) => (float[2,2] y) { a = MatMul(x, x) y = MatMul(a, x) }"""
    graph = opened(text).ir.graph
    first, second = graph
    found = assigned(graph, HALF, {"": 17}, {"n0"})
    assert found.sixteen == {second}
    assert found.stays == {first: "it is on the keep-list"}
    first.meta["id"] = "n0~4"
    assert assigned(graph, HALF, {"": 17}, {"n0"}).sixteen == {second}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("y = Pow(x, x)", "Pow asks for more range or digits than 16 bits have"),
        ("y = Mul(x, x)", "Mul asks for more range or digits than 16 bits have"),
        ("y = Add(x, tiny)", "a constant of it, 1e-12, would be 0 in float16"),
        ("y = Div(x, huge)", "a constant of it reaches 1e+06, float16 ends at 65504"),
        ("y = Det(x)", ""),
        ("n = Shape(x) y = ConstantOfShape(n)", ""),
    ],
)
def test_what_stays_float32_says_why(body: str, why: str) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,2] x) => (float[2,2] y) <float tiny = {{1e-12}}, float huge = {{1e6}}>
    {{ {body} }}"""
    graph = opened(text).ir.graph
    found = assigned(graph, HALF, {"": 17})
    assert not found.sixteen
    assert found.stays.get(graph[-1], "") == why
