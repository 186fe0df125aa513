"""Products of many rows, of whatever axes, as products of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import onnx_ir as ir

from optimizer.dimension import product
from optimizer.folding.exclusive_producers import exclusive_producers
from optimizer.folding.reshape_target import reshape_target
from optimizer.model.graph import readers
from optimizer.numbers import counted
from optimizer.operators.catalogue import RESHAPING
from optimizer.passes.block.fuse_gemm import GEMM_TYPES
from optimizer.passes.block.reductions import reduction_of
from optimizer.passes.block.rows import RowOperation, Shape, rows_around
from optimizer.passes.draft import NotHere
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    Inference,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Place,
    Replacement,
    producer_of,
)

_OLDEST = 10
"""The operator set from which on the parts of a shape can be cut out and put together."""


@register
class FlattenRows(Pass):
    """Compute on rows as a matrix, with Gemm.

    What it does:
        MatMul by a weight, a bias, LayerNormalization, written out or not, Softmax, sums along a
        row and elementwise operators treat every row alike. A region of them works on a matrix with
        a row for each place of the leading axes; products and their biases become Gemms. Reshapes
        stand where the region begins and ends, once each. It comes when all others are done.
    Before:
        x[batch, seq, 64] → MatMul(w) → Add(b) → Gelu → MatMul(v) → Add(c)
    After:
        x → Reshape(-1, 64) → Gemm(w, b) → Gelu → Gemm(v, c) → Reshape(batch, seq, 64)
    When it is safe:
        All values of the region have the same leading axes, and as many columns as the result or
        one; what is read besides is one number, one number a column, or a matrix of weights. No
        more nodes are left than before.
    Numerics:
        The same sums of products; a bias may be added before instead of after the last rounding.
    Source:
        ONNX operator specification, Gemm and MatMul; XLA, dot merging of batch dimensions.
    """

    id = "flatten-rows"
    exactness = "reassociates"
    presets = ("portable", "cpu", "cuda")
    order = 99
    last = True

    @rule("LayerNormalization", "MatMul", name="ProductOfRows")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """All that is connected with one node and treats rows as it does."""
        if node in context.memory or context.opset() < _OLDEST:
            return None
        region = rows_around(node, context)
        context.memory.update(dict.fromkeys(region, True))
        shape = context.symbolic.shape(node.outputs[0])
        if node not in region or shape is None or not isinstance(node.graph, ir.Graph):
            return None
        try:
            return _Flattened(context, node.graph, region, shape[:-1]).replacement(node)
        except NotHere as why:
            return Declined(f"Rows cannot be given their axes back: {why}")


@dataclass(slots=True)
class _Flattened:
    """A region on a matrix.

    Attributes:
        context: of the rule.
        graph: that it is in.
        region: its nodes.
        lead: the axes that become one.
        stands: nodes that new ones stand before.
        flat: values as matrices, constants as vectors.
        values: what takes the place of values that others read.
        gone: nodes besides the region's whose work is no longer needed.
        places: which new nodes do the work of which old ones.
        made: new nodes, in order.
        at: the node that is being put on matrices.
        source: a value from outside that has the leading axes, and stays.
        whole: sizes of which the first are those of the leading axes, where they are asked for.
        sizes: of the leading axes alone.
        targets: shapes for Reshape, by what follows the leading axes.
        constants: those that are known.
    """

    context: Context
    graph: ir.Graph
    region: dict[ir.Node, RowOperation]
    lead: Shape
    stands: dict[NewNode, ir.Node] = field(default_factory=dict[NewNode, ir.Node])
    flat: dict[ir.Value, Operand] = field(default_factory=dict[ir.Value, "Operand"])
    values: dict[ir.Value, Operand] = field(default_factory=dict[ir.Value, "Operand"])
    gone: dict[ir.Node, None] = field(default_factory=dict[ir.Node, None])
    places: list[Place] = field(default_factory=list[Place])
    made: list[NewNode] = field(default_factory=list[NewNode])
    at: ir.Node | None = None
    source: ir.Value | None = None
    whole: Operand | None = None
    sizes: Operand | None = None
    targets: dict[tuple[int, ...], Operand] = field(
        default_factory=dict[tuple[int, ...], "Operand"]
    )
    constants: dict[tuple[int, ...], Operand] = field(
        default_factory=dict[tuple[int, ...], "Operand"]
    )

    def replacement(self, root: ir.Node) -> Replacement | None:
        """The region anew, if no more nodes are left."""
        biases = {one: add for add in self.region if (one := self._product_of(add)) is not None}
        if self._least_added() > len(biases):
            return None  # told before anything is made
        for node in sorted({*self.region, *self._views()}, key=self.context.position):
            before, self.at = len(self.made), node
            if node not in self.region:
                self._end(node)
            elif node not in biases:
                self._put(node)
            if new := self.made[before:]:
                self.stands.update(dict.fromkeys(new, node))
                self.places.append(Place((*self._fused(node), node), tuple(new)))
        before = len(self.region) + len(self.gone)
        if len(self.made) > before or (len(self.made) == before and not biases):
            return None
        gone = [*self.region, *self.gone]
        if not isinstance(self.whole, ir.Value):  # else a target of these is read once more
            targets = (value.producer() for one in self.gone for value in one.inputs[1:] if value)
            gone += exclusive_producers(targets, around=gone)
        gone.remove(root)
        told = f"{counted(len(biases), 'product')} with a bias can be Gemm, on one matrix"
        return Replacement(
            [*gone, root],
            self.values,
            f"Every row is treated alike: {told if biases else 'fewer views are left'}.",
            self.made,
            stands=self.stands,
            inferred=Inference(tuple(self.places), 1.0),
        )

    def _least_added(self) -> int:
        """How many nodes there are more around the region, at least."""
        added = sum(self._is_added(value) - self._is_taken(value) for value in self._from_outside())
        for node in self.region:
            result = node.outputs[0]
            outside = [one for one in readers(result) if one not in self.region]
            added += result.is_graph_output() or not all(map(self._is_view, outside))
            views = (one.outputs[0] for one in outside if self._is_view(one))
            added -= sum(self.context.symbolic.shape(v) == self._matrix(result) for v in views)
        return added

    def _from_outside(self) -> list[ir.Value]:
        """What the region works on from outside."""
        read = dict.fromkeys(node.inputs[n] for node, one in self.region.items() for n in one.data)
        return [one for one in read if one is not None and one.producer() not in self.region]

    def _is_added(self, value: ir.Value) -> bool:
        """Whether a value from outside needs a Reshape."""
        if self.context.symbolic.shape(_viewed(value)) == self._matrix(value):
            return False
        return self._there(_viewed(value), self._matrix(value)[1]) is None

    def _is_taken(self, value: ir.Value) -> bool:
        """Whether a value from outside is a view for the region alone."""
        inside = all(one in self.region for one in readers(value))
        return _viewed(value) is not value and inside and not value.is_graph_output()

    def _fused(self, node: ir.Node) -> Iterator[ir.Node]:
        above = self._product_of(node)
        if above is not None:
            yield above

    def _product_of(self, node: ir.Node) -> ir.Node | None:
        """The product of which a node of the region adds the bias."""
        operation = self.region.get(node)
        if operation is None or node.op_type != "Add" or len(operation.vectors) != 1:
            return None
        made = producer_of(node.inputs[operation.data[0]], "MatMul")
        if made is None or made not in self.region or not self.context.single_use(made.outputs[0]):
            return None
        return made if made.outputs[0].dtype in GEMM_TYPES else None

    def _put(self, node: ir.Node) -> None:
        """A node of the region on matrices, and its result in its own shape where that is read."""
        above = self._product_of(node)
        if above is None:
            made = self._anew(node)
        else:
            factors = [self._rows(above.inputs[0]), above.inputs[1]]
            bias = self._vector(node, self.region[node].vectors[0])
            made = NewNode("Gemm", [*factors, bias], name=above.name)
        self.made.append(made)
        result = node.outputs[0]
        self.flat[result] = made.output()
        if result.is_graph_output() or any(map(self._wants_axes, readers(result))):
            self.values[result] = self._reshaped(made.output(), result)

    def _anew(self, node: ir.Node) -> NewNode:
        operation = self.region[node]
        inputs: list[Operand | None] = list(node.inputs)
        for place in operation.data:
            inputs[place] = self._rows(node.inputs[place])
        for place in operation.vectors:
            inputs[place] = self._vector(node, place)
        attributes: dict[str, object] = dict(node.attributes)
        if "axis" in attributes:
            attributes["axis"] = -1
        elif (reduced := reduction_of(node, self.context)) is not None:
            made = reduced.along((1,), inputs[0], self.context.opset(), keep=True)
            return replace(made, name=node.name)
        return NewNode(node.op_type, inputs, attributes, domain=node.domain, name=node.name)

    def _rows(self, value: ir.Value | None) -> Operand:
        """A value as a matrix."""
        assert value is not None, "data of a region is given"
        if value not in self.flat:
            self.flat[value] = self._entering(value)
        return self.flat[value]

    def _entering(self, value: ir.Value) -> Operand:
        source, view = _viewed(value), value.producer()
        if view is not None and self._is_taken(value):
            self.gone[view] = None
        if source is value and self.source is None:
            self.source = value
        taken = self.flat.get(source) or self.values.get(source, source)
        if self.context.symbolic.shape(source) == self._matrix(value):
            return taken
        columns = self._matrix(value)[1]
        assert isinstance(columns, int), "columns are known"
        there = self._there(source, columns) if taken is source else None
        if there is not None and self.at is not None and self.context.precedes(there, self.at):
            return there.outputs[0]
        target = self._target([-1, columns])
        return self._new("Reshape", taken, target, name=f"{value.name}_rows")

    def _there(self, value: ir.Value, columns: object) -> ir.Node | None:
        """The Reshape to a matrix that another region has made of a value."""
        for reader in readers(value):
            plain = self._is_view(reader) and reader.op_type == "Reshape" and not reader.attributes
            if not plain or reader.inputs[0] is not value or reader in self.gone:
                continue
            if self.context.ints(reader.inputs[1]) == [-1, columns]:
                return reader
        return None

    def _matrix(self, value: ir.Value) -> Shape:
        shape = self.context.symbolic.shape(value)
        assert shape is not None, "shapes of a region are known"
        return product(self.lead), shape[-1]

    def _vector(self, node: ir.Node, place: int) -> Operand:
        """A constant that is the same for all rows, with one axis or none."""
        value = node.inputs[place]
        assert value is not None, "an operand is given"
        if value not in self.flat:
            data = self.context.array(value)
            assert data is not None, "a vector of a region is constant"
            made = NewInitializer.of(data.reshape(-1), value.name or "vector")
            self.flat[value] = value if data.ndim <= 1 else made
        return self.flat[value]

    def _wants_axes(self, reader: ir.Node) -> bool:
        """Whether a node outside needs the leading axes as they are."""
        return reader not in self.region and not self._is_view(reader)

    def _is_view(self, node: ir.Node) -> bool:
        return not node.domain and node.op_type in RESHAPING and node.graph is self.graph

    def _views(self) -> Iterator[ir.Node]:
        """Views of results of the region."""
        for node in self.region:
            yield from filter(self._is_view, readers(node.outputs[0]))

    def _end(self, view: ir.Node) -> None:
        """A view of a result of the region becomes one of the matrix."""
        value, result = view.inputs[0], view.outputs[0]
        assert value is not None, "a view is of something"
        flat = self.flat[value]
        same = self.context.symbolic.shape(result) == self._matrix(value)
        is_flat = same and not result.is_graph_output()
        self.values[result] = flat if is_flat else self._reshaped(flat, result)
        self.gone[view] = None

    def _reshaped(self, flat: Operand, result: ir.Value) -> Operand:
        """A matrix in the shape that a value has.

        Raises:
            NotHere: that shape cannot be written.
        """
        shape = self.context.symbolic.shape(result)
        assert shape is not None, "shapes around a region are known"
        target = reshape_target((product(self.lead), shape[-1]), shape)
        wanted = self._sizes(shape) if target is None else self._target(target)
        return self._new("Reshape", flat, wanted, name=f"{result.name}_axes")

    def _sizes(self, shape: Shape) -> Operand:
        """The sizes of the leading axes as they turn out, and then these."""
        rest = [size for size in shape[len(self.lead) :] if isinstance(size, int)]
        if shape != (*self.lead, *rest):
            raise NotHere("the leading axes cannot be told")
        key = (*rest,)
        if self.whole is None:
            self.whole = self._whole()
        if isinstance(self.whole, ir.Value) and self.context.symbolic.of(self.whole) == shape:
            return self.whole
        if self.sizes is None:
            bounds = (NewInitializer.ints([end], "end") for end in (0, len(self.lead)))
            self.sizes = self._new("Slice", self.whole, *bounds)
        if key not in self.targets:
            tail = NewInitializer.ints(rest, "tail")
            self.targets[key] = self._new("Concat", self.sizes, tail, axis=0)
        return self.targets[key]

    def _whole(self) -> Operand:
        """The sizes of something that has the leading axes, or is given them for the region."""
        if self.source is not None:
            return self._new("Shape", self.source)
        views = (producer_of(value, "Reshape") for value in self._from_outside())
        for target in (view.inputs[1] for view in views if view is not None):
            maker = None if target is None else target.producer()
            sizes = self.context.symbolic.of(target)
            begins = isinstance(sizes, tuple) and sizes[: len(self.lead)] == self.lead
            if target is not None and begins and self._is_before(maker):
                return target
        raise NotHere("the leading axes cannot be told")

    def _is_before(self, maker: ir.Node | None) -> bool:
        return maker is None or (self.at is not None and self.context.precedes(maker, self.at))

    def _target(self, sizes: list[int]) -> Operand:
        """A constant target of Reshapes."""
        return self.constants.setdefault((*sizes,), NewInitializer.ints(sizes, "shape"))

    def _new(
        self, operator: str, *inputs: Operand | None, name: str | None = None, **attributes: object
    ) -> Operand:
        made = NewNode(operator, inputs, attributes, name=name)
        self.made.append(made)
        return made.output()


def _viewed(value: ir.Value) -> ir.Value:
    """What a value is a view of, or itself."""
    view = producer_of(value, *RESHAPING)
    source = None if view is None else view.inputs[0]
    return value if source is None else source
