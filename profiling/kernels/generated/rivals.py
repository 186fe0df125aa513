"""What a network with generated kernels has to beat: every form of it without any.

Each file runs under all of the runtime's own rewrites, and without the two that are slow on a CPU.
Many of these forms are one and the same graph once the runtime has rewritten them, with the same
times: of such, one is raced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from optimizer.errors import Cancelled, StudioError
from optimizer.isolation import Following, part_of, silent
from optimizer.limits import JobLimits
from profiling.config import RunConfig
from profiling.config.advice import SLOW_FUSIONS
from profiling.config.question import config_for
from profiling.execution.fingerprint import graph_fingerprint
from profiling.racing.race import Variant
from profiling.workers import WorkerPool

UNFUSED = "without its slow fusions"
_LIMITS = JobLimits(seconds=300.0)


@dataclass(frozen=True, slots=True)
class Rival:
    """A form of a network without generated kernels.

    Attributes:
        variant: as it is raced.
        same: labels of others that are the same graph once the runtime has rewritten them.
    """

    variant: Variant
    same: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Of the variant."""
        return self.variant.label


def usual_config(threads: int) -> RunConfig:
    """All of the runtime's own rewrites."""
    return config_for("deployed", {"intra_threads": threads})


def unfused_config(threads: int) -> RunConfig:
    """All of them but the two that lead to slower kernels on a CPU."""
    left_out = "+".join(SLOW_FUSIONS)
    return config_for("deployed", {"intra_threads": threads, "optimizers_off": left_out})


def forms_of(files: Mapping[str, Path], threads: int) -> list[Variant]:
    """Every file as usual, then every file without the slow fusions.

    Args:
        files: by label.
        threads: of a session.
    """
    usual = [Variant(label, path, usual_config(threads)) for label, path in files.items()]
    unfused = [
        Variant(f"{label} {UNFUSED}", path, unfused_config(threads))
        for label, path in files.items()
    ]
    return usual + unfused


def distinct(
    forms: Sequence[Variant], *, pool: WorkerPool, **following: Unpack[Following]
) -> tuple[list[Rival], dict[str, str]]:
    """One of each graph that really runs, the first of equal ones.

    Args:
        forms: of one network.
        pool: opens them in workers.
        following: told what is done, and asked often.

    Returns:
        Those to race, and label -> why the runtime refuses that form.

    Raises:
        Cancelled: if `cancelled` said so.
    """
    marks: dict[str, str] = {}
    refused: dict[str, str] = {}
    # A large file comes from disk the first time: all forms of it follow each other.
    for number, form in enumerate(sorted(forms, key=_file)):
        told = part_of(following, "", number, of=len(forms))
        (told.get("progress") or silent)(f"{form.label}: what the runtime makes of it", 0.0)
        try:
            marks[form.label] = pool(
                graph_fingerprint, form.located, form.config,
                limits=_LIMITS, cancelled=following.get("cancelled"),
            )  # fmt: skip
        except Cancelled:
            raise
        except StudioError as error:
            refused[form.label] = error.message
    first: dict[str, Variant] = {}
    same: dict[str, list[str]] = {}
    for form in (form for form in forms if form.label in marks):
        first.setdefault(marks[form.label], form)
        same.setdefault(marks[form.label], []).append(form.label)
    return [Rival(form, tuple(same[mark][1:])) for mark, form in first.items()], refused


def _file(form: Variant) -> str:
    """Where its model lies; empty for one in memory."""
    return str(form.located) if isinstance(form.located, Path) else ""
