"""What ptxas says of a kernel while it makes machine code of PTX."""

from __future__ import annotations

import re
from dataclasses import dataclass

_USED = re.compile(r"Used (\d+) registers")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


@dataclass(frozen=True, slots=True)
class KernelUsage:
    """What one thread, or one block of threads, of a kernel takes; None where nothing was said.

    Attributes:
        name: the kernel's.
        registers: of a thread.
        shared_bytes: of a block.
        stack_bytes: of a thread.
        spill_store_bytes: written to the stack for want of registers, all such instructions once.
        spill_load_bytes: and read back.
    """

    name: str
    registers: int | None
    shared_bytes: int | None
    stack_bytes: int | None
    spill_store_bytes: int | None
    spill_load_bytes: int | None


def usage_of(name: str, log: str, shared_bytes: int | None) -> KernelUsage:
    """What was said of one kernel.

    Args:
        name: the kernel's.
        log: of ptxas, told to be verbose, over a file with this kernel alone.
        shared_bytes: as the compiler before it says: ptxas sees only what is not asked for at the
            launch.
    """
    used, spills = _USED.search(log), _SPILLS.search(log)
    stack, stores, loads = (int(one) for one in spills.groups()) if spills else (None,) * 3
    return KernelUsage(name, int(used[1]) if used else None, shared_bytes, stack, stores, loads)
