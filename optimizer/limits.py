"""The bounds that keep a hostile or huge model from taking the machine down."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Every bound in one place, shown in the studio and overridable by the operator only.

    Attributes:
        file_bytes: the model file itself, weights in side files not counted.
        external_bytes: all side files of one model together.
        nodes: nodes in the graph and its bodies, functions not expanded.
        expanded_nodes: nodes after inlining all model functions.
        values: declared values (inputs, outputs, `value_info`, initializers).
        attribute_items: elements of one list attribute, or bytes of one string attribute.
        depth: nesting of If/Loop/Scan bodies.
        name: characters of one name.
        fold_output_bytes: one result of constant folding.
        fold_total_bytes: all results of constant folding in one run.
        fold_seconds: wall clock for constant folding in one run.
        optimize_seconds: wall clock for one run of a pipeline.
        rewrites: rewrites in one run of a pipeline.
    """

    file_bytes: int = 2048 * MIB - 1
    external_bytes: int = 16384 * MIB
    nodes: int = 200_000
    expanded_nodes: int = 200_000
    values: int = 500_000
    attribute_items: int = 1_000_000
    depth: int = 32
    name: int = 4096
    fold_output_bytes: int = 16 * MIB
    fold_total_bytes: int = 64 * MIB
    fold_seconds: float = 5.0
    optimize_seconds: float = 300.0
    rewrites: int = 200_000


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What one job in a worker process may use.

    Attributes:
        seconds: wall clock until the worker's process group is killed.
        memory_bytes: address space the job may add to the worker; None leaves it unbounded.
        file_bytes: size of any file the job writes.
    """

    seconds: float = 120.0
    memory_bytes: int | None = 12288 * MIB
    file_bytes: int = 8192 * MIB
