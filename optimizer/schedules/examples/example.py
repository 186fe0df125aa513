"""An algorithm with schedules that teach something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.loops.algorithm import Algorithm, InputTensor
from optimizer.loops.scalar import Element, Scalar, apply, index
from optimizer.loops.schedule import Primitive, Schedule

FLOAT = ir.DataType.FLOAT


@dataclass(frozen=True, slots=True)
class NamedSchedule:
    """One order of an example's loops.

    Attributes:
        name: in the example, for people.
        teaches: what is to be seen in it, in a sentence.
    """

    name: str
    teaches: str
    schedule: Schedule


@dataclass(frozen=True)
class Example:
    """An algorithm to schedule.

    Attributes:
        id: how commands and links call it.
        title: for people.
        teaches: in two sentences.
        make: the algorithm; takes sizes by name.
        sizes: that it has unless others are asked for.
        small: sizes at which running it takes a moment, tracing it included.
        schedules: any is right for any sizes; the first is how a beginner writes it.
    """

    id: str
    title: str
    teaches: str
    make: Callable[..., Algorithm]
    sizes: Mapping[str, int]
    small: Mapping[str, int]
    schedules: tuple[NamedSchedule, ...] = field(default=())

    @property
    def algorithm(self) -> Algorithm:
        """What it computes, at its sizes."""
        return self.make(**self.sizes)

    def schedule(self, name: str) -> Schedule:
        """One of its schedules.

        Raises:
            KeyError: it has none of that name.
        """
        return {one.name: one.schedule for one in self.schedules}[name]


def named(name: str, teaches: str, *primitives: Primitive) -> NamedSchedule:
    """A schedule of these primitives."""
    return NamedSchedule(name, teaches, Schedule(primitives))


def tensor(name: str, *shape: int) -> InputTensor:
    """An input of float32."""
    return InputTensor(name, FLOAT, shape)


def read(tensor: InputTensor, *indices: Scalar) -> Element:
    """One element of an input."""
    return Element(tensor.name, indices, tensor.dtype)


def beside(place: Scalar, steps: int) -> Scalar:
    """A place so many steps further along an axis."""
    return apply("add", place, index(steps)) if steps else place
