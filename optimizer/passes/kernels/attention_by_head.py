"""Attention one head at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import onnx_ir as ir

from optimizer.numbers import bytes_text
from optimizer.passes.draft import NotHere, array_of, attributes_of, dtype_of, numbers_of
from optimizer.passes.kernels.attention import attention_of
from optimizer.passes.kernels.site import Site, rewrites
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement, producer_of

_BROADCASTS = 7
_PARTS = 3
"""Of a cache, one for the scores of a head: 16 MiB of 32 were no faster alone, 9 were."""
_ROWS_FIRST, _KEYS_LAST, _TURNED = [0, 2, 1, 3], [0, 2, 3, 1], [0, 1, 3, 2]


@register
class ComputeAttentionByHead(Pass):
    """Compute attention one head at a time.

    What it does:
        Where the scores of all heads are more than the last-level cache holds, each head's are
        computed, normalized and multiplied by its values before the next one's, and read again
        while they are still in the cache. Heads are cut from the columns that projections give,
        and put side by side for the next one: only keys are transposed, which ONNX Runtime does
        inside their product.
    Before:
        q, k, v[1, 6, 1500, 64] → MatMul → Softmax[1, 6, 1500, 1500] → MatMul
    After:
        Split → 6 × (MatMul → Softmax[1, 1500, 1500] → MatMul) → Concat
    When it is safe:
        Query, key and value are of rank 4, heads second and as many in each, with Softmax over
        the last axis; the scale is one number; a mask has one head or all; every size is known.
        It is done where the scores of all heads take more than `cache_bytes`, and those of one
        head at most a third of it: what Softmax makes of them has to fit beside, and the rest.
    Numerics:
        The same sums of the same products; a runtime may add them in another order.
    Source:
        Rabe and Staats 2021, Self-attention does not need O(n²) memory, with heads as the parts.

    Attributes:
        cache_bytes: of the last-level cache; scores that fit stay together.
    """

    id = "compute-attention-by-head"
    exactness = "reassociates"
    global_analysis = True
    presets = ("generated",)
    order = 80
    last = True

    cache_bytes: int = 33_554_432

    @rewrites("MatMul", name="AttentionOfHeads", kinds=("Attention",), at=-1, reach=5)
    def match(self, site: Site) -> Replacement:
        """The product of scores and values."""
        found = attention_of(site)
        inputs = (found.query, found.key, found.value)
        scores = numbers_of(site.block.nodes[-1].inputs[0])
        heads, size = scores[1], prod(scores) * dtype_of(found.query).bitwidth // 8
        if any(numbers_of(value)[1] != heads for value in inputs):
            raise NotHere("its query, key and value have different numbers of heads")
        if size <= self.cache_bytes:
            raise NotHere(f"the scores of all heads fit into a cache: {bytes_text(size)}")
        one = size // heads
        if _PARTS * one > self.cache_bytes:
            raise NotHere(f"the scores of one head fill a cache: {bytes_text(one)}")
        apart = _Apart(site, heads)
        queries, keys, values = map(apart.heads, inputs)
        products = apart.products(queries, keys, values, apart.mask(found.mask))
        result = apart.together([*products])
        why = f"The scores of all heads are {bytes_text(size)}, those of one {bytes_text(one)}."
        return site.put(apart.nodes, result, why)


@dataclass(frozen=True, slots=True)
class _Apart:
    """The heads of one attention apart.

    Attributes:
        count: of heads.
        nodes: that are replaced, the last one that gives the result.
    """

    site: Site
    count: int
    nodes: list[ir.Node] = field(default_factory=list[ir.Node])

    def heads(self, value: ir.Value) -> Sequence[Operand]:
        """Of [batch, heads, rows, columns] each head's [batch, rows, columns]."""
        batch, _, rows, columns = numbers_of(value)
        moving = producer_of(value, "Transpose")
        order = [] if moving is None else [*attributes_of(moving).get("perm", ())]
        if moving is None or order not in (_ROWS_FIRST, _KEYS_LAST, _TURNED):
            parts = self.site.split(value, self.count, 1, axis=1)
            return [self.site.reshape(part, batch, rows, columns) for part in parts]
        self.nodes.append(moving)
        source = moving.inputs[0]
        assert source is not None, "a Transpose has an input"
        if order == _ROWS_FIRST:
            return self._columns(source)
        parts = self.heads(source) if order == _TURNED else self._columns(source)
        return [self.site.new("Transpose", part, perm=[0, 2, 1]) for part in parts]

    def _columns(self, value: ir.Value) -> Sequence[Operand]:
        """Of [batch, rows, heads, columns], which is one row of all heads' columns, each head's."""
        batch, rows, heads, columns = numbers_of(value)
        flat, shaping = value, producer_of(value, "Reshape")
        if shaping is not None and shaping.inputs[0] is not None:
            self.nodes.append(shaping)
            flat = shaping.inputs[0]
        wide = (batch, rows, heads * columns)
        data: Operand = flat if numbers_of(flat) == wide else self.site.reshape(flat, *wide)
        return self.site.split(data, heads, columns, axis=2)

    def mask(self, mask: ir.Value | None) -> Sequence[Operand | None]:
        """What is added to each head's scores."""
        sizes = () if mask is None else numbers_of(mask)
        if mask is None or len(sizes) < 3:
            return [mask] * self.count
        *batch, heads, rows, columns = sizes
        if len(batch) > 1 or heads not in (1, self.count):
            raise NotHere("its mask has another number of heads")
        axis = len(batch)
        parts = [mask] if heads == 1 else self.site.split(mask, heads, 1, axis=axis)
        if batch:
            parts = [self.site.reshape(part, *batch, rows, columns) for part in parts]
        return [*parts] * (self.count // heads)

    def products(
        self,
        queries: Sequence[Operand],
        keys: Sequence[Operand],
        values: Sequence[Operand],
        masks: Sequence[Operand | None],
    ) -> Iterator[Operand]:
        """Each head's result, [batch, rows, columns]."""
        between = self.site.block.nodes[1:-2]
        scale = {
            node: self.site.like(array_of(node.inputs[1]).reshape(()), node.inputs[1])
            for node in between
            if node.op_type != "Add"
        }
        for query, key, value, mask in zip(queries, keys, values, masks, strict=True):
            scores = self.site.new("MatMul", query, key)
            for node in between:
                scores = self.site.new(node.op_type, scores, scale.get(node, mask))
            shares = self.site.new("Softmax", scores, axis=2)
            yield self.site.new("MatMul", shares, value)

    def together(self, products: Sequence[Operand]) -> Operand:
        """The heads side by side, as they are read; what is read instead of it is replaced."""
        site, result = self.site, self.site.block.output
        batch, heads, rows, columns = numbers_of(result)
        self.nodes.extend(site.block.nodes)
        moving = _only_reader(result, "Transpose")
        if moving is None or [*attributes_of(moving).get("perm", ())] != _ROWS_FIRST:
            parts = [site.reshape(one, batch, 1, rows, columns) for one in products]
            return site.new("Concat", *parts, axis=1)
        self.nodes.append(moving)
        wide = site.new("Concat", *products, axis=2)
        shaping = _only_reader(moving.outputs[0], "Reshape")
        if shaping is not None:
            self.nodes.append(shaping)
        shape = numbers_of(self.nodes[-1].outputs[0])
        return wide if shape == (batch, rows, heads * columns) else site.reshape(wide, *shape)


def _only_reader(value: ir.Value, operator: str) -> ir.Node | None:
    """The one node that reads a value, if it is this operator of ONNX's own."""
    readers = [use.node for use in value.uses()]
    if len(readers) != 1 or value.is_graph_output():
        return None
    (reader,) = readers
    known = reader.op_type == operator and not reader.domain
    return reader if known and reader.graph is value.graph else None
