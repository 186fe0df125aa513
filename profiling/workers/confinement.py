"""Limits a worker puts on itself before it runs a job.

Soft limits only: they are lifted again between jobs, so that a worker can be used for the next one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from pathlib import Path

from optimizer.limits import JobLimits

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
_OUT_OF_MEMORY_SCORE = 500  # added to the share of memory that is used, in thousandths
_NICEST = 19  # on a scale from -20
_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


def confine(limits: JobLimits, *, address_space: bool = True) -> None:
    """Apply `limits` to this process.

    Memory is what the job may add to the address space that is mapped already. CUDA reserves
    address space far beyond what it uses, so there `address_space` is off and the pool watches
    resident memory instead.
    """
    _soft(resource.RLIMIT_CORE, 0)
    _soft(resource.RLIMIT_FSIZE, limits.file_bytes)
    if address_space and limits.memory_bytes is not None:
        _soft(resource.RLIMIT_AS, mapped_bytes() + limits.memory_bytes)


def release() -> None:
    """Lift what `confine` set, up to the hard limits."""
    for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_AS):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (hard, hard))


def mapped_bytes() -> int:
    """Address space of this process."""
    return _statm(0)


def resident_bytes(pid: int | None = None) -> int:
    """Memory of a process, by default this one, that is in RAM now; 0 when it is gone."""
    try:
        return _statm(1, pid)
    except (OSError, IndexError):
        return 0


def has_children() -> bool:
    """Whether child processes of this one are left; finished ones are collected on the way."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def die_first() -> None:
    """When the machine runs out of memory, have the kernel end this process before others."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(_OUT_OF_MEMORY_SCORE))


def yield_to_others() -> None:
    """Take only what others leave of the processors."""
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    except OSError:  # not in this container
        os.nice(_NICEST)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def threads() -> int:
    """Threads of this process, those included that Python knows nothing of."""
    return len(list(Path("/proc/self/task").iterdir()))


def children() -> list[int]:
    """Direct children of this process."""
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    try:
        return [int(pid) for pid in listing.read_text().split()]
    except OSError:
        return []


def _soft(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, hard))


def _statm(field: int, pid: int | None = None) -> int:
    return (
        int(Path(f"/proc/{pid or 'self'}/statm").read_text().split()[field])
        * resource.getpagesize()
    )


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
