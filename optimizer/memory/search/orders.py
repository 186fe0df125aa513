"""Which buffer goes first where two could: static orders, then random mixtures of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from optimizer.memory.search.problem import Integers, Problem
from optimizer.memory.search.state import FULLEST, LOWEST, SCARCEST

_SEED = 4
_MOST_NOISE = 0.3
_TURNS = (SCARCEST, FULLEST, SCARCEST, LOWEST)


def orders(problem: Problem, seed: int = 0) -> Iterator[tuple[int, Integers]]:
    """Where to decide and the rank of every buffer, for one restart after another, for ever.

    Contention (the most that is alive in a section of the buffer), length and area in the three
    sequences of the paper, size; after them, log-linear mixtures with noise.
    """
    live = problem.live
    ends = zip(problem.first.tolist(), problem.end.tolist(), strict=True)
    contention = np.array([live[first:end].max() for first, end in ends], float)
    length = (problem.end - problem.first).astype(float)
    size = problem.size.astype(float)
    area = length * size
    yield FULLEST, _ranks(contention, length, area)
    yield LOWEST, _ranks(contention, length, area)
    yield LOWEST, _ranks(area, contention)
    yield SCARCEST, _ranks(area, contention)
    yield FULLEST, _ranks(contention, area, length)
    yield LOWEST, _ranks(length, area, contention)
    yield SCARCEST, _ranks(contention, length, area)
    random = np.random.default_rng(_SEED + seed)
    for turn in count():
        share = random.random(3) * (random.random(3) < 0.7)
        key = share @ np.log([contention**4, length, size])
        noise = random.uniform(0, _MOST_NOISE) * random.standard_normal(len(size))
        yield _TURNS[turn % len(_TURNS)], _ranks(key + noise)


def _ranks(*keys: np.ndarray) -> Integers:
    """Places in the order: by the first key, the largest first, then by the next."""
    ranks = np.empty(len(keys[0]), np.int64)
    ranks[np.lexsort([-key for key in reversed(keys)])] = np.arange(len(ranks))
    return ranks
