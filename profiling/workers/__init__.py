"""Worker processes: native code reads a user's model here and nowhere else.

    page's thread ── WorkerPool ── ForkServer (one process, modules preloaded)
                          │              │ fork (CPU) or fork + exec (CUDA)
                          └── Channel ── Worker: limits on, empty folder, own process group

A worker that dies, hangs or eats memory is a `RunError` for the job that did it, and nothing for
anybody else. Needs Linux: the limits and the process groups are the kernel's.
"""

from __future__ import annotations

from profiling.workers.pool import MeasuringWorkers, Worker, WorkerPool, default_pool

__all__ = ["MeasuringWorkers", "Worker", "WorkerPool", "default_pool"]
