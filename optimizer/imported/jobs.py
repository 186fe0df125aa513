"""What runs in the worker: a tool on a file, and a model held against what it was made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.numpy_helper

from optimizer.errors import StudioError, quoted
from optimizer.imported.matches import Found
from optimizer.verify.comparison import Tolerance, compare
from optimizer.verify.feeds import Array
from optimizer.verify.jobs import Reference, Request, check, run_reference
from optimizer.verify.runtime import NotRunnable, Session

Options = Mapping[str, Any]
Ban = tuple[str, str]
"""A rule, and the name of the first value that the root of its match makes."""
_SEEDS = 2
_PERTURBED = 3
"""Seed of what overridable initializers are given."""


def stages_of(driver: str, source: Path, options: Options) -> tuple[str, ...]:
    """What a tool would do to a model, in order.

    Raises:
        StudioError: the tool raises.
    """
    try:
        return tuple(import_module(driver).stages(source.read_bytes(), options))
    except (MemoryError, StudioError):
        raise
    except Exception as error:  # whatever its parts do
        raise _raised(error) from error


def run_stage(driver: str, source: Path, target: Path, stage: str, options: Options) -> None:
    """Have a tool write what it makes of a model.

    Raises:
        StudioError: the tool raises, or gives no bytes.
    """
    try:
        made: object = import_module(driver).run(source.read_bytes(), stage, options)
    except (MemoryError, StudioError):
        raise
    except Exception as error:  # whatever its parts do
        raise _raised(error) from error
    if not isinstance(made, bytes):
        raise StudioError(f"it gives {type(made).__name__}, no model.")
    target.write_bytes(made)


def find_matches(
    driver: str, source: Path, target: Path, options: Options, banned: Sequence[Ban], most: int
) -> Found:
    """Have a tool's rules act on a copy of a model, and write what they make of it.

    Args:
        driver: the module that asks the tool.
        source: the model.
        target: where to.
        options: for the driver.
        banned: rules at places where they must not act.
        most: matches after which to stop.

    Raises:
        StudioError: the tool raises.
    """
    try:
        found, made = import_module(driver).find(source.read_bytes(), options, banned, most)
    except (MemoryError, StudioError):
        raise
    except Exception as error:  # whatever its parts do
        raise _raised(error) from error
    target.write_bytes(made)
    return found


def _raised(error: Exception) -> StudioError:
    told = quoted(f"{type(error).__name__}: {error}", limit=200)[1:-1]
    return StudioError(f"it raises {told}.")


def reference_of(source: Path) -> Reference:
    """What a model gives on random inputs.

    Raises:
        NotRunnable: it does not run here.
    """
    return run_reference(source, Request(_SEEDS))


def faults(source: Path, candidate: Path, reference: Reference | None, tolerance: Tolerance) -> str:
    """What is wrong with a model that should compute what another one does; empty for nothing.

    Args:
        source: what it was made from.
        candidate: the model.
        reference: what the source gives; None where it does not run.
        tolerance: what is still equal.
    """
    try:
        onnx.checker.check_model(str(candidate))
    except onnx.checker.ValidationError as error:
        return f"the ONNX checker refuses it: {quoted(str(error).strip(), limit=160)}"
    if reference is None:
        return ""
    found = check(reference, candidate, tolerance)
    if found.interface:
        return found.interface[0]
    if found.failure:
        return f"it does not run: {found.failure}"
    outputs = [*found.outputs, *_overridden(source, candidate, reference, tolerance)]
    wrong = [output for output in outputs if not output.ok]
    return f"output {quoted(wrong[0].name)}: {wrong[0].reason}" if wrong else ""


def _overridden(
    source: Path, candidate: Path, reference: Reference, tolerance: Tolerance
) -> Sequence[Any]:
    """Outputs where initializers that a caller may override are given other numbers."""
    given = _other_defaults(source)
    if not given:
        return ()
    inputs = {**reference.runs[0].inputs, **given}
    try:
        expected = Session(source).run(inputs)
    except NotRunnable:
        return ()
    return compare(
        expected, Session(candidate).run(inputs), tolerance=tolerance, random=reference.random
    )


def _other_defaults(source: Path) -> dict[str, Array]:
    """Floating-point initializers that are inputs, too, each number larger by up to a half."""
    graph = onnx.load(source).graph
    inputs = {value.name for value in graph.input}
    generator = np.random.default_rng(_PERTURBED)
    found: dict[str, Array] = {}
    for initializer in graph.initializer:
        if initializer.name in inputs:
            array = onnx.numpy_helper.to_array(initializer)
            if array.dtype.kind == "f":
                scale = 1 + generator.random(array.shape) / 2
                found[initializer.name] = np.asarray(array * scale).astype(array.dtype)
    return found
