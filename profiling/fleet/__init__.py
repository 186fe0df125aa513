"""Where races run: in this process's own workers, or on a Ray cluster."""

from profiling.fleet.executor import Executor, LocalExecutor, Outcome, Placement, RaceJob

__all__ = ["Executor", "LocalExecutor", "Outcome", "Placement", "RaceJob"]
