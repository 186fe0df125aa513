"""Random graphs of a few nodes whose memory depends on the order: shapes are stated, not run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx_ir as ir
from hypothesis import strategies as st

from optimizer.model.graph import Model, identify

OPERATORS = ("Transpose", "Transpose", "Relu", "Add", "Identity", "Split")
FLOATS_IN_64_BYTES = 16


def tensor(name: str, count: int) -> ir.Value:
    """A value of so many times 64 bytes."""
    shape = ir.Shape([count * FLOATS_IN_64_BYTES])
    return ir.Value(name=name, type=ir.TensorType(ir.DataType.FLOAT), shape=shape)


def blocks(value: ir.Value) -> int:
    """How many times 64 bytes."""
    assert value.shape is not None
    return int(value.shape.numpy()[0]) // FLOATS_IN_64_BYTES


@st.composite
def networks(draw: st.DrawFn, *, most: int = 7) -> Model:
    """Up to `most` nodes with one or two inputs and outputs, some of them graph outputs."""
    x = tensor("x", 2)
    values, nodes = [x], list[ir.Node]()
    for index in range(draw(st.integers(1, most))):
        op_type = draw(st.sampled_from(OPERATORS))
        inputs = [draw(st.sampled_from(values)) for _ in range(2 if op_type == "Add" else 1)]
        like = blocks(inputs[0])
        keeps = op_type in ("Relu", "Identity", "Add")
        outputs = [
            tensor(f"v{index}_{port}", like if keeps else draw(st.sampled_from((1, 2, 3, 8))))
            for port in range(2 if op_type == "Split" else 1)
        ]
        nodes.append(ir.Node("", op_type, inputs, outputs=outputs, name=f"node{index}"))
        values += outputs
    made = values[1:]
    others = draw(st.lists(st.sampled_from(made), max_size=1))
    outputs = list(dict.fromkeys([made[-1], *others]))
    graph = ir.Graph([x], outputs, nodes=nodes, opset_imports={"": 18}, name="network")
    model = ir.Model(graph, ir_version=10)
    identify(model)
    return Model(ir=model, name="network", digest="")


def all_orders(before: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Every order in which nothing comes before what it depends on."""
    count = len(before)

    def extend(order: list[int]) -> Iterator[list[int]]:
        if len(order) == count:
            yield list(order)
        for index in range(count):
            if index not in order and all(other in order for other in before[index]):
                yield from extend([*order, index])

    yield from extend([])
