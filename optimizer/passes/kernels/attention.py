"""Attention as one operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.passes.draft import (
    MICROSOFT,
    NotHere,
    array_of,
    attributes_of,
    dims_of,
    dtype_of,
)
from optimizer.passes.kernels.site import Site, rewrites
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement

_RANK = 4
_SOFTMAX_OVER_LAST = 13
_ATTENTION = ("Attention",)


@dataclass(frozen=True, slots=True)
class Attention:
    """`softmax(query @ key * scale + mask) @ value`, all of rank 4, heads second.

    Attributes:
        key: float[batch, heads, size, length]: transposed already.
    """

    query: ir.Value
    key: ir.Value
    value: ir.Value
    scale: float
    mask: ir.Value | None


@register
class FuseAttentionRuntime(Pass):
    """Fuse attention for ONNX Runtime.

    What it does:
        Attention becomes the runtime's own operator, which never writes the whole matrix of
        scores.
    Before:
        MatMul → Div → Add → Softmax → MatMul
    After:
        com.microsoft.MultiHeadAttention
    When it is safe:
        The scores are float32 of rank 4, heads second, with Softmax over the last axis. Queries,
        keys and values have the same batch, and the same known numbers of heads and size. There may
        be a mask, and a scale, which is not 0: the operator takes that for its own.
    Numerics:
        The same mathematics; the runtime's kernel rounds differently.
    Source:
        ONNX Runtime contrib operators, MultiHeadAttention.
    """

    id = "fuse-attention-runtime"
    exactness = "reassociates"
    global_analysis = True

    @rewrites("MatMul", name="FusedAttention", kinds=_ATTENTION, at=-1, reach=5)
    def match(self, site: Site) -> Replacement:
        """The product of scores and values."""
        return _fused(site, lambda value: value)


@register
class FuseAttentionRuntimeHalf(Pass):
    """Fuse attention for ONNX Runtime, in float16.

    What it does:
        Attention becomes the runtime's own operator in float16, its inputs and its result cast.
    Before:
        MatMul → Div → Add → Softmax → MatMul
    After:
        Cast → com.microsoft.MultiHeadAttention → Cast
    When it is safe:
        The scores are float32 of rank 4, heads second, with Softmax over the last axis. Queries,
        keys and values have the same batch, and the same known numbers of heads and size. There may
        be a mask, and a scale, which is not 0: the operator takes that for its own.
    Numerics:
        11 bits of precision, and float16's range.
    Source:
        ONNX Runtime contrib operators, MultiHeadAttention.
    """

    id = "fuse-attention-runtime-half"
    exactness = "lossy"
    global_analysis = True

    @rewrites("MatMul", name="FusedAttentionHalf", kinds=_ATTENTION, at=-1, reach=5)
    def match(self, site: Site) -> Replacement:
        """The product of scores and values."""
        half, back = int(ir.DataType.FLOAT16), int(ir.DataType.FLOAT)
        return _fused(site, lambda value: site.new("Cast", value, to=half), back=back)


@register
class ScaleInsideProduct(Pass):
    """Scale attention inside its product.

    What it does:
        The scale is applied inside the product of query and key, instead of in one more pass over
        the scores.
    Before:
        MatMul → Div
    After:
        com.microsoft.FusedMatMul
    When it is safe:
        The scores are of rank 4, heads second, with Softmax over the last axis; the scale is one
        number; a mask may be there.
    Numerics:
        Rounding differs in the last place.
    Source:
        ONNX Runtime contrib operators, FusedMatMul.
    """

    id = "scale-inside-product"
    exactness = "reassociates"
    global_analysis = True

    @rewrites("Div", "Mul", name="ScaledScores", kinds=_ATTENTION, at=1, reach=2)
    def match(self, site: Site) -> Replacement:
        """The scale."""
        found = attention_of(site)
        first, second = site.block.nodes[:2]
        if second.op_type not in ("Div", "Mul"):
            raise NotHere("nothing scales its scores")
        scores = site.new(
            "FusedMatMul", found.query, found.key, domain=MICROSOFT, alpha=found.scale
        )
        return site.put([first, second], scores, "The scale is one number.")


def _fused(site: Site, typed: Callable[[Operand], Operand], *, back: int = 0) -> Replacement:
    found = attention_of(site)
    heads, size = _heads(found)
    mask = None if found.mask is None else typed(_whole_mask(site, found.mask, _scores(found)))
    rows = site.new("Transpose", typed(found.query), perm=[0, 2, 1, 3])
    result = site.new(
        "MultiHeadAttention",
        site.new("Reshape", rows, site.integers(0, 0, heads * size)),
        site.new("Transpose", typed(found.key), perm=[0, 1, 3, 2]),
        typed(found.value),
        None,
        None,
        mask,
        domain=MICROSOFT,
        num_heads=heads,
        scale=found.scale,
    )
    result = site.new("Reshape", result, site.integers(0, 0, heads, size))
    result = site.new("Transpose", result, perm=[0, 2, 1, 3])
    if back:
        result = site.new("Cast", result, to=back)
    why = "Its heads and their size are known: the runtime has one operator for all of it."
    return site.put(site.block.nodes, result, why)


def _heads(found: Attention) -> tuple[int, int]:
    """The number of heads, and their size.

    Raises:
        NotHere: they are not known, or the runtime's operator does not take such an attention.
    """
    dtype = dtype_of(found.query)
    if dtype != ir.DataType.FLOAT:
        raise NotHere(f"its element type is not float32: {dtype}")
    _, heads, _, size = dims_of(found.query)
    width = dims_of(found.value)[-1]
    if heads is None or size is None or width is None:
        raise NotHere("the number of heads, or their size, is free in the file")
    if width != size:
        raise NotHere(f"its values have another size than its queries: {width} and {size}")
    batches = [_sizes(value)[:2] for value in (found.query, found.key, found.value)]
    if None in batches[0] or any(batch != batches[0] for batch in batches):
        raise NotHere("its queries, keys and values are not known to have the same batch and heads")
    if found.scale == 0:
        raise NotHere("its scale is 0, which the operator takes for 1/√size")
    return heads, size


_Sizes = tuple[int | str | None, ...]


def _sizes(value: ir.Value) -> _Sizes:
    """Sizes of a value, names where the file leaves them free; None for those without a name."""
    return tuple(dim if isinstance(dim, int) else dim.value for dim in value.shape or ())


def _scores(found: Attention) -> _Sizes:
    """[batch, heads, queries, keys]."""
    return (*_sizes(found.query)[:3], _sizes(found.key)[3])


def attention_of(site: Site) -> Attention:
    """The block's attention.

    Raises:
        NotHere: its inputs are not of rank 4, its Softmax is over another axis, or its scale is no
            single number.
    """
    first, last = site.block.nodes[0], site.block.nodes[-1]
    query, key = first.inputs
    value = last.inputs[1]
    if query is None or key is None or value is None:
        raise NotHere("an input is missing")
    if any(len(dims_of(each)) != _RANK for each in (query, key, value)):
        raise NotHere(f"its inputs do not have rank {_RANK}")
    softmax = site.node("Softmax")
    usual = -1 if site.opset >= _SOFTMAX_OVER_LAST else 1
    if softmax is None or attributes_of(softmax).get("axis", usual) not in (-1, _RANK - 1):
        raise NotHere("its Softmax is not over the last axis")
    mask = site.node("Add")
    return Attention(query, key, value, _scale(site), None if mask is None else mask.inputs[1])


def _scale(site: Site) -> float:
    for node in site.block.nodes[1:3]:
        if node.op_type in ("Div", "Mul") and constant_of(node.inputs[1]) is not None:
            array = array_of(node.inputs[1])
            if array.size != 1 or array.ndim > _RANK:
                raise NotHere("its scale is no single number")
            factor = float(array.reshape(-1)[0])
            if node.op_type == "Div" and factor == 0:
                raise NotHere("its scores are divided by 0")
            return 1 / factor if node.op_type == "Div" else factor
    return 1.0


def _whole_mask(site: Site, mask: ir.Value, scores: _Sizes) -> Operand:
    """The mask with a row for every query and a column for every key, as the operator wants it.

    Args:
        site: where it is.
        mask: what is added to the scores.
        scores: their sizes.
    """
    sizes = _sizes(mask)
    if len(sizes) != _RANK:
        raise NotHere(f"its mask does not have rank {_RANK}")
    fits = all(size in (1, of) for size, of in zip(sizes, scores, strict=True))
    if None in sizes or not fits:
        raise NotHere("the sizes of its mask are not known to be 1 or those of its scores")
    if sizes[2:] == scores[2:]:
        return mask
    known = [size for size in scores[2:] if isinstance(size, int)]
    if len(known) < 2:
        raise NotHere("the length of the sequence is free in the file")
    return site.new("Expand", mask, site.integers(1, 1, *known))
