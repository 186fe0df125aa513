"""Latencies as busy machines give them, made up: what the verdicts are calibrated against."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiling.racing.plan import schedule

Blocks = list[list[float]]
RUNS = 15
"""In a block."""

PROCESS = 0.004
"""How much two processes of one model differ for as long as they live, standard deviation."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What disturbs a machine; all in logarithms of the latency.

    Attributes:
        level: standard deviation of the slow wandering from block to block.
        memory: correlation of neighbouring blocks.
        bursts: share of blocks at which somebody else takes the machine, for three on average.
        drift: amplitude of a swing over the whole race.
        stray: share of single runs that are hit.
        periodic: a disturbance that comes back every so many blocks; 0 for none.
    """

    level: float = 0.03
    memory: float = 0.9
    bursts: float = 0.05
    drift: float = 0.1
    stray: float = 0.05
    periodic: int = 0


NOISES = {
    "calm": Noise(level=0.01, bursts=0, drift=0),
    "drifting": Noise(drift=0.3, bursts=0),
    "bursts": Noise(bursts=0.1),
    "no memory": Noise(level=0.05, memory=0),
    "neighbours": Noise(level=0.06, bursts=0.2, stray=0.2),
    "crowded": Noise(level=0.06, bursts=0.2, stray=0.5),
    "periodic": Noise(periodic=16),
}


def simulated(noise: Noise, *, slowdown: float, rounds: int, seed: int) -> tuple[Blocks, Blocks]:
    """Blocks of two variants that run A B, B A, …; the second takes `slowdown` times as long."""
    generator = np.random.default_rng(seed)
    state = _state(noise, 2 * rounds, generator)
    level = np.log([10.0, 10.0 * slowdown]) + generator.normal(0, PROCESS, 2)
    blocks: tuple[Blocks, Blocks] = ([], [])
    order = itertools.chain.from_iterable(schedule(2))
    for slot, variant in zip(range(2 * rounds), order, strict=False):
        runs = generator.normal(0, 0.02, RUNS)
        runs += (generator.random(RUNS) < noise.stray) * generator.exponential(0.7, RUNS)
        blocks[variant].append([float(x) for x in np.exp(level[variant] + state[slot] + runs)])
    return blocks


def _state(noise: Noise, slots: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """How much slower the whole machine is in each slot."""
    shocks = generator.normal(0, noise.level, slots)
    state = shocks.copy()
    for slot in range(1, slots):
        state[slot] = noise.memory * state[slot - 1] + np.sqrt(1 - noise.memory**2) * shocks[slot]
    state += noise.drift * np.sin(np.linspace(0, 4, slots) + generator.uniform(0, 6))
    for slot in np.flatnonzero(generator.random(slots) < noise.bursts):
        state[slot : slot + generator.geometric(1 / 3)] += generator.exponential(0.5)
    if noise.periodic:
        state[:: noise.periodic] += 0.3
    return state
