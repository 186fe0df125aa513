"""Whether a candidate computes the right thing, also where loops end and numbers are strange.

What is right is the kernel's function body, run by ONNX Runtime without its optimizations. Where
the two differ, the loops themselves have a say, evaluated in NumPy: among numbers beyond the
largest one the runtime's kernels differ from each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.errors import RunError
from optimizer.verify import jobs
from optimizer.verify.feeds import draw
from optimizer.verify.feeds import planned as feeds_for
from optimizer.verify.runtime import NotRunnable, Session, as_file
from optimizer.verify.sizes import SizeChoice, evaluate
from profiling.config import RunConfig
from profiling.execution.session import open_session
from profiling.kernels.generated.edge_cases import MOST_ELEMENTS, EdgeCase, planted
from profiling.kernels.generated.single import Arrays, body_in, loops_of, told_contents

_RELATIVE = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 1e-4, "float64": 1e-9}
"""Of an element, by its type; numbers of all other types are the same or wrong."""
_OF_SCALE = 0.05
"""Share of the relative tolerance that the largest number of a usual result gives to all."""


Opener = Callable[[Path, RunConfig], Any]
"""Opens a file as something with the `run` of a session."""


class OutOfReach(Exception):
    """A candidate cannot be run on this case here, right or wrong."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The first element that is wrong.

    Attributes:
        output: its tensor.
        place: where in it; empty for another shape or type.
        found: what the candidate gave.
        expected: what is right.
        case: with which sizes and numbers.
    """

    output: str
    place: tuple[int, ...]
    found: str
    expected: str
    case: EdgeCase

    def __str__(self) -> str:
        where = f"[{', '.join(map(str, self.place))}]" if self.place else ""
        told = f"{self.output}{where} is {self.found} instead of {self.expected}"
        return f"{told}, with {self.case}" if str(self.case) else told


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a check.

    Attributes:
        cases: that were run.
        left_out: that the function itself does not run on, or that are too large or out of reach.
        fault: the first; None where there is none.
    """

    cases: int
    left_out: int
    fault: Fault | None = None


def first_fault(
    model: bytes | Path,
    config: RunConfig,
    cases: Sequence[EdgeCase],
    opener: Opener = open_session,
) -> Checked:
    """Run a kernel on all cases, and compare every element. In a worker.

    Args:
        model: calls the kernel once; its free sizes have names.
        config: runs it with the candidate.
        cases: the first one with usual sizes and numbers.
        opener: opens it with the candidate.

    Raises:
        RunError: the candidate does not run.
    """
    path = as_file(model)
    checked = _Check(path, opener(path, config))
    done = left_out = 0
    for case in cases:
        runs = checked.inputs(case)
        expected = None if runs is None else checked.expected(runs)
        if runs is None or expected is None:
            left_out += 1
            continue
        try:
            fault = checked.fault(case, runs, expected)
        except OutOfReach:
            left_out += 1
            continue
        done += 1
        if fault is not None:
            return Checked(done, left_out, fault)
    return Checked(done, left_out)


class _Check:
    """Both sessions, and the scale of a usual result."""

    def __init__(self, path: Path, candidate: Any) -> None:
        self._structure = jobs.structure_of(path)
        self._reference = Session(path)
        self._candidate = candidate
        self._body, self._third = body_in(path), loops_of(path)
        self._scales: dict[str, float] = {}
        self._drawn = 0

    def inputs(self, case: EdgeCase) -> Arrays | None:
        """Random numbers, and the special one planted; None where there are too many."""
        shapes: dict[str, tuple[int, ...]] = {}
        for one in self._reference.interface.inputs:
            shape = [evaluate(dim, case.sizes) for dim in one.shape]
            if any(size is None for size in shape):
                return None
            shapes[one.name] = tuple(size for size in shape if size is not None)
        if max(map(math.prod, shapes.values()), default=0) > MOST_ELEMENTS and case.sizes:
            return None
        self._drawn += 1
        plan = SizeChoice(shapes, case.sizes)
        feeds = feeds_for(self._reference.interface.inputs, plan, self._structure)
        found = draw(feeds, seed=3 * self._drawn)  # every third seed has no negative numbers
        found |= told_contents(self._body, case.sizes)
        if case.special:
            found[case.planted] = planted(found[case.planted], case.special)
        return found

    def expected(self, inputs: Arrays) -> Arrays | None:
        """What the function body gives; None where the runtime refuses it."""
        try:
            return self._reference.run(inputs)
        except NotRunnable:
            return None

    def fault(self, case: EdgeCase, inputs: Arrays, expected: Arrays) -> Fault | None:
        """The first wrong element of the candidate."""
        names = [*expected]
        try:
            given = self._candidate.run(names, dict(inputs))
        except OutOfReach:
            raise
        except Exception as error:  # the runtime has a dozen classes for this
            raise RunError(f"it does not run with {case}: {error}") from error
        found: Arrays = dict(zip(names, given, strict=True))
        if not case.special:
            for name, array in expected.items():
                self._scales[name] = max(self._scales.get(name, 0.0), _scale(array))
        fault = first_wrong(found, expected, scales=self._scales, case=case)
        if fault is None or self._third is None:
            return fault
        return first_wrong(
            found, expected, scales=self._scales, case=case, third=self._third(inputs)
        )


def first_wrong(
    found: Arrays,
    expected: Arrays,
    *,
    scales: Mapping[str, float],
    case: EdgeCase,
    third: Arrays | None = None,
) -> Fault | None:
    """The first element that is wrong.

    Args:
        found: what a candidate gave.
        expected: what is right.
        scales: largest numbers of usual outputs, 1 where there is none.
        case: what it was run on.
        third: what is right, too.
    """
    for name, right in expected.items():
        given, scale = found[name], scales.get(name, 1.0)
        wrong = _differing(given, right, scale)
        if third is not None:
            wrong = wrong & _differing(given, third[name], scale)
        if wrong.any() and case.overflows and given.shape == right.shape:
            wrong = wrong & (_far_from_overflow(given) | _far_from_overflow(right))
        if not wrong.any():
            continue
        if given.shape != right.shape or given.dtype != right.dtype:
            return Fault(name, (), _form(given), _form(right), case)
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        return Fault(name, place, _number(given[place]), _number(right[place]), case)
    return None


def _differing(found: NDArray[Any], expected: NDArray[Any], scale: float) -> NDArray[np.bool_]:
    """Which elements are wrong; all of another shape or type."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return np.array(True)
    relative = _RELATIVE.get(expected.dtype.name)
    if relative is None:
        return np.asarray(found != expected)
    left, right = found.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.abs(left - right) <= relative * (np.abs(right) + _OF_SCALE * scale)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    return ~(near & np.isfinite(left) & np.isfinite(right) | same)


def _far_from_overflow(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Numbers whose squares are finite; others may overflow on the way, in another order."""
    if array.dtype.name not in _RELATIVE:
        return np.array(True)
    largest = float(ir.DataType.from_numpy(array.dtype).max)
    return np.abs(array.astype(np.float64)) <= math.sqrt(largest)


def _scale(array: NDArray[Any]) -> float:
    """The largest finite magnitude."""
    numbers = np.abs(array.astype(np.float64))
    return float(numbers[np.isfinite(numbers)].max(initial=0.0))


def _form(array: NDArray[Any]) -> str:
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"


def _number(value: Any) -> str:
    return f"{float(value):.6g}"
