"""The user's own measure of a model: a small Python function, run in a worker.

    def accuracy(outputs, labels):
        return (outputs["logits"].argmax(-1) == labels).mean()

`outputs` are all held-out samples together, joined along their first axis, by the output's name.
`labels` are the user's, or the outputs of the model as it came where there are none.
"""

from __future__ import annotations

import math
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from optimizer.errors import StudioError, quoted
from optimizer.numbers import three_digits
from optimizer.verify.feeds import Array

_TEXT = re.compile(r"(.+\.py):([A-Za-z_]\w*)\s*(>=|<=)\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)")
_NPY = np.lib.format


@dataclass(frozen=True, slots=True)
class Metric:
    """A function, and what it must give.

    Attributes:
        function: its name.
        sense: whether it must be at least, or at most, `bound`.
        file: in which it is defined.
        labels: a `.npy` file with an entry for each sample in the order of the samples' names.
    """

    function: str
    sense: Literal[">=", "<="]
    bound: float
    file: Path = Path()
    labels: Path | None = None

    def __str__(self) -> str:
        """What is asked: `accuracy >= 0.76`."""
        return f"{self.function} {self.sense} {three_digits(self.bound)}"

    def excess(self, value: float) -> float:
        """How far a value is on the wrong side of the bound, 0 or less if it is not."""
        missing = self.bound - value if self.sense == ">=" else value - self.bound
        return missing / (abs(self.bound) or 1.0)


def metric_of(text: str, labels: Path | None = None) -> Metric:
    """The metric that `FILE.py:FUNCTION>=X` says.

    Raises:
        StudioError: it says none, or the file is not there.
    """
    found = _TEXT.fullmatch(text.strip())
    try:
        bound = float(found[4]) if found else math.nan
    except ValueError:
        bound = math.nan
    if found is None or not math.isfinite(bound):
        raise StudioError(f"{quoted(text)} is no metric; write FILE.py:FUNCTION>=0.76, or <=.")
    file = Path(found[1]).absolute()
    for wanted, what in ((file, "of the metric"), (labels, "of the labels")):
        if wanted is not None and not wanted.is_file():
            raise StudioError(f"There is no file {quoted(wanted)} {what}.")
    sense: Literal[">=", "<="] = ">=" if found[3] == ">=" else "<="
    labels = None if labels is None else labels.absolute()
    return Metric(found[2], sense, bound, file, labels)


def joined(outputs: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Outputs of several runs along their first axis.

    Raises:
        StudioError: the other axes differ.
    """
    try:
        return {
            name: np.concatenate([np.atleast_1d(run[name]) for run in outputs])
            for name in outputs[0]
        }
    except ValueError as error:
        raise StudioError(
            f"Outputs of different sizes cannot be joined for a metric: {error}. Bring all samples "
            "to one size."
        ) from error


def labels_of(metric: Metric, first: int, count: int) -> Array | None:
    """The labels of some samples; None where there are none.

    Raises:
        StudioError: the file holds none for them.
    """
    if metric.labels is None:
        return None
    where = f"The file of labels {quoted(metric.labels.name)}"
    try:
        with metric.labels.open("rb") as stream:
            array: Array = _NPY.read_array(stream, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise StudioError(f"{where} cannot be read: {error}.") from error
    if array.ndim < 1 or len(array) < first + count:
        entries = 0 if array.ndim < 1 else len(array)
        raise StudioError(
            f"{where} holds {entries} entries; there are at least {first + count} samples."
        )
    return array[first : first + count]


def measured(metric: Metric, outputs: Mapping[str, Array], labels: object) -> float:
    """What the function gives. Runs the user's code: only in a worker process.

    Raises:
        StudioError: it raises, is not there, or gives no finite number; says where.
    """
    where = f"The metric {quoted(f'{metric.file.name}:{metric.function}')}"
    space: dict[str, Any] = {"__name__": metric.file.stem, "__file__": str(metric.file)}
    try:
        exec(compile(metric.file.read_bytes(), str(metric.file), "exec"), space)  # noqa: S102
        function: Callable[..., Any] | None = space.get(metric.function)
        if not callable(function):
            raise StudioError(f"{where} is not defined in that file.")
        value = float(function(dict(outputs), labels))
    except StudioError:
        raise
    except Exception as error:  # whatever the user's code leads to
        raise StudioError(f"{where} fails{_line(error, metric.file)}: {_told(error)}.") from error
    if not math.isfinite(value):
        raise StudioError(f"{where} gives {value}, which is no finite number.")
    return value


def _line(error: Exception, file: Path) -> str:
    """Where in the user's file, if it was there."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    line = own[-1].lineno if own else getattr(error, "lineno", None)
    return "" if line is None else f" in line {line}"


def _told(error: Exception) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return quoted(text, limit=160)[1:-1]
