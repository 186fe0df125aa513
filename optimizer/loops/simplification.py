"""Algorithms with as few axes and as little index arithmetic as they need."""

from __future__ import annotations

from dataclasses import replace

from optimizer.loops.algorithm import Algorithm, Func
from optimizer.loops.indexing import extents_of, shortened
from optimizer.loops.quotients import with_quotients
from optimizer.loops.scalar import Element, parts_of


def simplified(algorithm: Algorithm) -> Algorithm:
    """The same with indices in their shortest form, no Func that nothing reads, fewer products."""
    funcs = tuple(
        replace(func, body=shortened(func.body, extents_of(func))) for func in algorithm.funcs
    )
    return with_quotients(without_unread(replace(algorithm, funcs=funcs)))


def without_unread(algorithm: Algorithm) -> Algorithm:
    """The algorithm without Funcs that no output needs."""
    needed = set(algorithm.outputs)
    kept: list[Func] = []
    for func in reversed(algorithm.funcs):
        if func.name in needed:
            kept.append(func)
            needed |= {one.tensor for one in parts_of(func.body) if isinstance(one, Element)}
    return replace(algorithm, funcs=tuple(reversed(kept)))
