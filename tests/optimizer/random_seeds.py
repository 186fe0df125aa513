"""Golden cases as seeds of random graphs: what makes a pass fire is planted on values there are.

Every pass has golden cases, so every pass is met by random graphs, one written tomorrow included.
A case is carried to any opset at which the checker takes it, ONNX Runtime runs it and its pass
fires: it need not mean the same there, as before and after are compared at one opset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import onnx
from onnx import GraphProto, ModelProto, TypeProto

from optimizer.pipeline import Pipeline
from optimizer.registry import Pass
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened
from tests.optimizer.observed import configured
from tests.optimizer.passes import golden
from tests.optimizer.random_graphs import NEWEST, Growth, Pattern, Shape, Sketch, Wire, some_of
from tests.optimizer.running import feeds_for, run

_SINCE = re.compile(r"keeps-a-model-before-opset-(\d+)")
_UNTIL = re.compile(r"keeps-a-model-from-opset-(\d+)")


class Seeds:
    """The cases of one pass, as graphs of any opset."""

    def __init__(self, declared: type[Pass], cases: Sequence[golden.Case]) -> None:
        self.declared = declared
        self.name = declared.id
        self._cases = [case for case in cases if case.pass_id == declared.id]
        self._at: dict[int, list[ModelProto]] = {}
        known = (_SINCE.fullmatch(case.path.stem) for case in self._cases)
        self.since = next((int(match[1]) for match in known if match), 1)
        """The first opset of the pass, which its case `keeps-a-model-before-opset-N` tells."""
        known = (_UNTIL.fullmatch(case.path.stem) for case in self._cases)
        self.until = next((int(match[1]) for match in known if match), NEWEST + 1)
        """The first opset that is too new, which its case `keeps-a-model-from-opset-N` tells."""

    def at(self, opset: int) -> list[ModelProto]:
        """Those that make the pass fire at this opset."""
        if opset not in self._at:
            carried = (self._carried(case, opset) for case in self._cases)
            self._at[opset] = [proto for proto in carried if proto is not None]
        return self._at[opset]

    def around(self, patterns: Sequence[Pattern]) -> Growth:
        """Up to three patterns, a seed, and up to three patterns more."""

        def grow(sketch: Sketch) -> list[Pattern]:
            before, after = some_of(patterns, size=3)(sketch), some_of(patterns, size=3)(sketch)
            found = self.at(sketch.opset)
            return [*before, *([planted(sketch.pick(found))] if found else []), *after]

        return grow

    def _carried(self, case: golden.Case, opset: int) -> ModelProto | None:
        proto = onnx.parser.parse_model(case.before)
        shaped = all(value.type.tensor_type.HasField("shape") for value in proto.graph.output)
        if golden.FEED.search(case.head) or proto.functions or not shaped:
            return None
        for entry in proto.opset_import:
            entry.version = entry.version if entry.domain else opset
        try:
            onnx.checker.check_model(proto)
            if not optimize(opened(proto), Pipeline((configured(self.declared, proto),))).steps:
                return None  # and never run: some cases show what would end the process
            run(proto, feeds_for(proto))
        except Exception:
            return None
        return proto


def planted(seed: ModelProto) -> Pattern:
    """The pattern that adds a seed's graph, on values of the sketch where types and shapes fit."""

    def plant(sketch: Sketch) -> Wire | None:
        graph = GraphProto()
        graph.CopyFrom(seed.graph)
        symbols: dict[str, int | str] = {}
        names = {name: sketch.name("s") for name in sorted(_names(graph)) if name}
        fixed = {tensor.name for tensor in graph.initializer}
        for value in graph.input:
            if value.name in fixed:
                dtype = value.type.tensor_type.elem_type
                sketch.inputs.append(Wire(names[value.name], dtype, _shape(value.type)))
            else:
                names[value.name] = _source(sketch, value.type, symbols).name
        _rename(graph, names)
        sketch.initializers.extend(graph.initializer)
        sketch.nodes.extend(graph.node)
        sketch.domains |= {e.domain: e.version for e in seed.opset_import if e.domain}
        outputs = [_result(sketch, value, symbols) for value in graph.output]
        sketch.wires.extend(outputs)
        return outputs[-1]

    return plant


def _source(sketch: Sketch, kind: TypeProto, symbols: dict[str, int | str]) -> Wire:
    """A value that fits, or a new input."""
    shape = _shape(kind)
    dtype = kind.tensor_type.elem_type
    fitting = [w for w in sketch.wires if w.dtype == dtype and _bound(shape, w.shape, symbols)]
    wire = sketch.pick([*fitting, None])
    if wire is None:
        wire = Wire(sketch.name("x"), dtype, tuple(symbols.get(str(s), s) for s in shape))
        sketch.inputs.append(wire)
        sketch.wires.append(wire)
    symbols.update(_bound(shape, wire.shape, symbols) or {})
    return wire


def _bound(
    shape: Shape, other: Shape, symbols: dict[str, int | str]
) -> dict[str, int | str] | None:
    """What the symbols of a shape stand for if it is `other`; None where it cannot be."""
    if len(shape) != len(other):
        return None
    bound = dict(symbols)
    fits = all(
        bound.setdefault(mine, yours) == yours if isinstance(mine, str) else mine == yours
        for mine, yours in zip(shape, other, strict=True)
    )
    return bound if fits else None


def _result(sketch: Sketch, value: onnx.ValueInfoProto, symbols: dict[str, int | str]) -> Wire:
    """An output; sizes that no input gives are of its own."""
    sizes = (
        symbols.get(s) or sketch.name("u") if isinstance(s, str) else s for s in _shape(value.type)
    )
    return Wire(value.name, value.type.tensor_type.elem_type, tuple(sizes))


def _shape(kind: TypeProto) -> Shape:
    sizes = enumerate(kind.tensor_type.shape.dim)
    return tuple(
        d.dim_value if d.HasField("dim_value") else d.dim_param or f"?{i}" for i, d in sizes
    )


def _names(graph: GraphProto) -> Iterator[str]:
    """Every value that a graph and its bodies name."""
    for node in graph.node:
        yield from (*node.input, *node.output)
        for attribute in node.attribute:
            yield from _names(attribute.g)
    yield from (value.name for value in (*graph.input, *graph.output, *graph.initializer))


def _rename(graph: GraphProto, names: dict[str, str]) -> None:
    """Give values their new names, in bodies too; node names go."""
    for node in graph.node:
        node.name = ""
        node.input[:] = [names.get(name, "") for name in node.input]
        node.output[:] = [names.get(name, "") for name in node.output]
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                _rename(attribute.g, names)
    for value in (*graph.input, *graph.output, *graph.initializer):
        value.name = names[value.name]
    del graph.value_info[:]
