"""What ONNX Runtime's arena really did: order of nodes, live bytes, the block it plans."""

from __future__ import annotations

from profiling.arena.measure import measure_arena
from profiling.arena.measurement import ArenaMeasurement

__all__ = ["ArenaMeasurement", "measure_arena"]
