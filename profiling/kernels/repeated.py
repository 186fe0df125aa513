"""A small model several times in one run, where calling it once takes as long as its kernels.

What a copy gives goes into the next one where it fits, so that data is in the cache as it is behind
another operator, and the runtime cannot see that the copies are alike.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir


def repeated(model: ir.Model, copies: int) -> ir.Model:
    """The model several times in a row.

    An output becomes the first input of the next copy that has its type and shape and is not taken
    yet; where none has, every copy has a first input of its own and its outputs are the model's,
    too. Other inputs and all constants are shared.

    Args:
        model: without bodies in its nodes.
        copies: at least one.
    """
    graph = model.graph
    carried = _carried(graph)
    known = {value: _like(value, value.name or "") for value in (*graph.inputs, *_constants(graph))}
    made = _Copies(graph, known)
    for number in range(copies):
        given = made.add(number, alone=not carried and number > 0)
        last = number == copies - 1
        made.outputs += [given[one] for one in graph.outputs if last or one not in carried]
        made.known.update({entered: given[one] for one, entered in carried.items()})
    together = ir.Graph(
        made.inputs,
        made.outputs,
        nodes=made.nodes,
        initializers=[known[value] for value in _constants(graph)],
        opset_imports=dict(graph.opset_imports),
        name=graph.name,
    )
    return ir.Model(
        together,
        ir_version=model.ir_version or 8,
        functions=tuple(model.functions.values()),
        producer_name="passlens",
    )


class _Copies:
    """What is made so far.

    Attributes:
        known: what the next copy reads for a value of the model.
    """

    def __init__(self, graph: ir.Graph, known: dict[ir.Value, ir.Value]) -> None:
        self._graph = graph
        self.known = known
        self.inputs = [known[value] for value in graph.inputs]
        self.outputs: list[ir.Value] = []
        self.nodes: list[ir.Node] = []

    def add(self, number: int, *, alone: bool) -> Mapping[ir.Value, ir.Value]:
        """One more copy, and what it has for every value of the model."""
        values = dict(self.known)
        if alone:
            first = self._graph.inputs[0]
            values[first] = _like(first, f"{first.name}.{number}")
            self.inputs.append(values[first])
        for node in self._graph:
            for output in node.outputs:
                values[output] = _like(output, f"{output.name}.{number}" if output.name else "")
            self.nodes.append(_copied(node, values, number))
        return values


def _carried(graph: ir.Graph) -> dict[ir.Value, ir.Value]:
    """Which input of the next copy an output becomes."""
    left, found = list(graph.inputs), dict[ir.Value, ir.Value]()
    for output in graph.outputs:
        fitting = next((one for one in left if _form(one) == _form(output)), None)
        if fitting is not None:
            left.remove(fitting)
            found[output] = fitting
    return found


def _form(value: ir.Value) -> tuple[object, ...]:
    return value.dtype, tuple(map(str, value.shape or ()))


def _constants(graph: ir.Graph) -> tuple[ir.Value, ...]:
    return tuple(graph.initializers.values())


def _like(value: ir.Value, name: str) -> ir.Value:
    return ir.Value(name=name, type=value.type, shape=value.shape, const_value=value.const_value)


def _copied(node: ir.Node, values: Mapping[ir.Value, ir.Value], number: int) -> ir.Node:
    return ir.Node(
        node.domain,
        node.op_type,
        [None if value is None else values[value] for value in node.inputs],
        list(node.attributes.values()),
        outputs=[values[output] for output in node.outputs],
        name=f"{node.name}.{number}",
    )
