"""From the planned kernels of a network to a decision: each alone, then where they all run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from optimizer.errors import Cancelled
from optimizer.isolation import Following, part_of
from optimizer.operators.generated import region_title
from optimizer.registry import Preset
from profiling.kernels.generated.decisions import KernelDecision
from profiling.kernels.generated.network import NetworkDecision, decide_network, kernels_alone
from profiling.kernels.generated.own_schedules import OwnSchedule
from profiling.kernels.generated.placed import PlacedKernel
from profiling.kernels.generated.racing import race_kernel
from profiling.kernels.generated.regions import KernelRegion
from profiling.kernels.generated.rivals import distinct, forms_of
from profiling.workers import WorkerPool

SOURCE = "source"
PRESETS: tuple[Preset, ...] = ("portable", "cpu")
"""What a network with kernels has to beat beside its source."""
_CHOOSING = 0.2
"""Part of the work on a network that is finding out which of its forms are one graph."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where decisions about single kernels are kept.

    Attributes:
        find: the decision about a workload by its key; None where it has to be raced.
        keep: takes one that was just raced.
    """

    find: Callable[[str], KernelDecision | None]
    keep: Callable[[KernelDecision], object]


@dataclass(frozen=True, slots=True)
class NetworkForms:
    """The files of a network that are raced.

    Attributes:
        model: display name.
        plain: those without kernels by label, the source first.
        generated: the one with all of them.
        folder: for files with some of them.
        sizes: of the free dimensions that were asked for.
    """

    model: str
    plain: Mapping[str, Path]
    generated: Path
    folder: Path
    sizes: Mapping[str, int]


def decide_kernels(
    kernels: Sequence[PlacedKernel],
    shelf: Shelf,
    *,
    pool: WorkerPool,
    seconds: float,
    threads: int,
    **following: Unpack[Following],
) -> dict[str, KernelDecision]:
    """What is decided about each kernel of a network: as it is kept, or raced now.

    Args:
        kernels: with the sizes that they have in the network.
        shelf: where decisions are kept.
        pool: where they run.
        seconds: of steady running, for the race of one kernel.
        threads: of a session.
        following: told what is done, and asked often.

    Raises:
        Cancelled: if `cancelled` said so; what was decided until then is kept.
    """
    found: dict[str, KernelDecision] = {}
    for number, kernel in enumerate(kernels):
        if (cancelled := following.get("cancelled")) is not None and cancelled():
            raise Cancelled("Deciding about the kernels was cancelled.")
        known = shelf.find(kernel.workload(threads).key)
        if known is None or not has_tried(known, kernel):
            told = part_of(following, f"{region_title(kernel.name)}: ", number, of=len(kernels))
            known = race_kernel(kernel, pool=pool, seconds=seconds, threads=threads, **told)
            shelf.keep(known)
        found[kernel.name] = known
    return found


def has_tried(decision: KernelDecision, kernel: PlacedKernel) -> bool:
    """Whether all schedules that somebody made of a kernel were raced when that was decided."""
    tried = {candidate.label for candidate in decision.raced.candidates}
    return all(own.label in tried for own in kernel.own)


def decide_together(
    forms: NetworkForms,
    regions: Sequence[KernelRegion],
    alone: Mapping[str, KernelDecision],
    *,
    own: Iterable[OwnSchedule] = (),
    pool: WorkerPool,
    seconds: float,
    threads: int,
    **following: Unpack[Following],
) -> NetworkDecision:
    """Race a network with its kernels against every form without, and take back what does not pay.

    Args:
        forms: its files.
        regions: of all kernels.
        alone: decisions about them.
        own: schedules of them that somebody keeps.
        pool: where they run.
        seconds: by the clock, for all races together.
        threads: of a session.
        following: told what is done, and asked often.

    Raises:
        StudioError: nothing runs.
        Cancelled: if `cancelled` said so.
    """
    rivals, _ = distinct(
        forms_of(forms.plain, threads), pool=pool, **part_of(following, "", 0, of=1 / _CHOOSING)
    )
    return decide_network(
        rivals,
        forms.generated,
        kernels_alone(regions, alone, own),
        model=forms.model,
        sizes=forms.sizes,
        threads=threads,
        seconds=seconds,
        pool=pool,
        folder=forms.folder,
        **part_of(following, "", _CHOOSING / (1 - _CHOOSING), of=1 / (1 - _CHOOSING)),
    )
