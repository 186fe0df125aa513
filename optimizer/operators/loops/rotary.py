"""Rotary position embeddings: pairs of numbers turned by angles of their positions."""

from __future__ import annotations

from collections.abc import Callable

from optimizer.dimension import exact_divide
from optimizer.loops.algorithm import extent_scalar
from optimizer.loops.building import Indices, LoopTensor
from optimizer.loops.formulas import add, choose, is_below, largest, least, mul, sub, wide
from optimizer.loops.scalar import INDEX, Scalar, apply, cast, index
from optimizer.operators.call import CONTRIB
from optimizer.operators.loops.site import NodeLoops

Angle = Callable[[Scalar, Scalar, Scalar], tuple[Scalar, Scalar]]
"""Cosine and sine by batch, place in the sequence and number of the pair."""


def rotary_embedding(site: NodeLoops) -> list[LoopTensor]:
    """Pairs (a, b) as (a cos - b sin, b cos + a sin); beyond the rotated width as they were.

    Data is [batch, seq, heads*width], or [batch, heads, seq, width]; caches of cosines and sines
    are [positions, rotated/2], or, where no positions are given, [batch, seq, rotated/2].
    """
    data, angle = site.operand(0), _angles(site)
    width = _width(site, data)
    rotated = site.call.number("rotary_embedding_dim", 0) or width
    interleaved = bool(site.call.number("interleaved", 0))
    if width % 2 or rotated % 2 or not 0 < rotated <= width:
        raise site.decline("has no pairs to turn")
    dtype = wide(data.dtype)

    def body(at: Indices) -> Scalar:
        within = apply("floor_mod", at[-1], index(width))
        first, away, number = _pair(within, rotated // 2, interleaved=interleaved)
        other_at = choose(first, add(at[-1], index(away)), sub(at[-1], index(away)))
        own, other = (cast(data.at([*at[:-1], one]), dtype) for one in (at[-1], other_at))
        cosine, sine = (cast(one, dtype) for one in angle(at[0], at[-2], number))
        straight, across = mul(own, cosine), mul(other, sine)
        turned = choose(first, sub(straight, across), add(straight, across))
        return turned if rotated == width else choose(is_below(within, index(rotated)), turned, own)

    return [site.func(data.shape, body, dtype=data.dtype)]


def _pair(within: Scalar, half: int, *, interleaved: bool) -> tuple[Scalar, int, Scalar]:
    """A place in a head: whether its pair begins there, how far off the other is, the number."""
    if interleaved:
        even = apply("eq", apply("floor_mod", within, index(2)), index(0))
        number = apply("floor_div", within, index(2))
        return even, 1, apply("floor_mod", number, index(half))
    return is_below(within, index(half)), half, apply("floor_mod", within, index(half))


def _width(site: NodeLoops, data: LoopTensor) -> int:
    """Numbers of a head.

    Raises:
        NotGenerated: they are not known.
    """
    heads = site.call.number("num_heads", 0)
    if len(data.shape) == 4:
        width = data.shape[3]
    elif heads:
        width = exact_divide(data.shape[-1], heads)
    else:
        width = site.operand(_caches(site)).shape[-1] * 2
    if not isinstance(width, int) or len(data.shape) not in (3, 4):
        raise site.decline("has heads whose width is not known")
    return width


def _caches(site: NodeLoops) -> int:
    """Which input the cosines are; the sines are the next one."""
    return 2 if site.node.domain == CONTRIB else 1


def _angles(site: NodeLoops) -> Angle:
    cosines, sines = (site.operand(_caches(site) + place) for place in (0, 1))
    positions = site.optional(1 if site.node.domain == CONTRIB else 3)
    if positions is None:
        return lambda batch, step, pair: (
            cosines.at([batch, step, pair]),
            sines.at([batch, step, pair]),
        )
    last = extent_scalar(cosines.shape[0] - 1)

    def found(batch: Scalar, step: Scalar, pair: Scalar) -> tuple[Scalar, Scalar]:
        if len(positions.shape) == 1:  # where all sequences begin
            place = add(cast(positions.at([index(0)]), INDEX), step)
        else:
            place = cast(positions.at([batch, step]), INDEX)
        held = largest(least(place, last), index(0))
        return cosines.at([held, pair]), sines.at([held, pair])

    return found
