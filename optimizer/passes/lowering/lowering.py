"""One node that a device lacks, to be written with other operators."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar, cast

import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.dimension import Dimension
from optimizer.hardware import HardwareProfile, lack, profile_of
from optimizer.model.graph import is_used
from optimizer.numbers import bytes_text, times_text
from optimizer.passes.draft import Draft, NotHere
from optimizer.registry import Pass, passes, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    Operand,
    Outcome,
    Replacement,
    given,
)

DEFAULT = "matrix-engine"
"""The profile of a pass that is switched on without one."""


@dataclass(frozen=True, slots=True)
class Lowering(Draft):
    """A node that the device lacks, and what new ones are made with.

    Attributes:
        node: the one to be written anew.
        context: what may be asked about it.
    """

    node: ir.Node = field(kw_only=True)
    context: Context = field(kw_only=True)

    def input(self, index: int) -> ir.Value:
        """An input that is there.

        Raises:
            NotHere: it is left out.
        """
        value = self.optional_input(index)
        if value is None:
            raise NotHere(f"it has no input {index}")
        return value

    def optional_input(self, index: int) -> ir.Value | None:
        """An input, or None."""
        return given(self.node, index)

    def of(self, name: str) -> Any:
        """An attribute, or its default."""
        return self.context.attribute(self.node, name)

    def text(self, name: str, default: str) -> str:
        """An attribute that is a text."""
        found = self.of(name)
        return found.decode() if isinstance(found, bytes) else cast("str", found or default)

    def numbers(self, name: str, count: int, default: int) -> tuple[int, ...]:
        """An attribute that is a list of so many numbers.

        Raises:
            NotHere: it has another length.
        """
        found = self.context.integers(self.node, name) or [default] * count
        if len(found) != count:
            raise NotHere(f"its {name} are {len(found)} numbers, not {count}")
        return tuple(found)

    def shape(self, value: ir.Value | None) -> tuple[Dimension, ...] | None:
        """A shape with its symbols."""
        return None if value is None else self.context.symbolic.shape(value)

    def rank(self, value: ir.Value | None) -> int:
        """Number of dimensions.

        Raises:
            NotHere: it is not known.
        """
        rank = self.context.rank(value)
        if rank is None:
            raise NotHere("the rank of its input is not known")
        return rank

    def same(self, axis: int) -> bool:
        """Whether the first input and the first output surely have the same size there."""
        before, after = self.shape(self.node.inputs[0]), self.shape(self.node.outputs[0])
        return before is not None and after is not None and before[axis] == after[axis]

    def axis(self, name: str, rank: int) -> int:
        """An axis that an attribute names, counted from the front."""
        return int(self.of(name)) % rank if rank else 0

    def constant(self, value: ir.Value | None) -> Any:
        """A constant's elements; None where it is computed, or left out."""
        return self.context.array(value)

    def number(self, value: ir.Value, data: float) -> NewInitializer:
        """A scalar in the type of a value."""
        return self.like(data, value)

    def only_first_output(self) -> None:
        """Guard: nobody reads the other outputs.

        Raises:
            NotHere: somebody does.
        """
        if any(map(is_used, self.node.outputs[1:])):
            raise NotHere("its second output is used")

    def put(self, new: Operand, why: str) -> Replacement:
        """The new operators take the place of the node; where there are none, a copy does."""
        return self.put_all([new if self.made else self.new("Identity", new)], why)

    def put_all(self, new: Sequence[Operand], why: str) -> Replacement:
        """The same for a node with several outputs."""
        values = dict(zip(self.node.outputs, new, strict=False))
        return Replacement([self.node], values, why, tuple(self.made))


Of = TypeVar("Of", bound=Pass)
Write = Callable[[Of, Lowering], "Replacement | None"]
Match = Callable[[Of, ir.Node, Context], Outcome]


def lowers(
    *roots: str, name: str, reach: int = 1
) -> Callable[
    [Callable[[Of, Lowering], Replacement | None]], Callable[[Of, ir.Node, Context], Outcome]
]:
    """Mark a method that writes a node anew as a rule, asked where the device lacks the node.

    The pass has an option `profile`: the name of a shipped profile, or the text of a file.
    """

    def mark(write: Write[Of]) -> Match[Of]:
        @rule(*roots, name=name, reach=reach)
        @functools.wraps(write)
        def match(self: Of, node: ir.Node, context: Context) -> Outcome:
            profile = profile_of(cast("Any", self).profile)
            lacking = lack(node, profile, context.opset())
            if not lacking:
                return None
            base = node.name or node.op_type
            lowering = Lowering(context.opset(), base, node=node, context=context)
            try:
                found = write(self, lowering)
                if found is None:
                    return None
                _check_made(found, profile)
            except NotHere as why:
                return Declined(str(why))
            return replace(found, reason=f"{lacking}. {found.reason}")

        return match

    return mark


def _check_made(replacement: Replacement, profile: HardwareProfile) -> None:
    """Guard: the device has the new operators, or they can be lowered too.

    Raises:
        NotHere: it has one not, and nothing lowers that.
    """
    for new in replacement.nodes:
        name = f"{new.domain}::{new.op_type}" if new.domain else new.op_type
        if not profile.has(name) and name not in lowerable():
            raise NotHere(f"{profile.title} has no {name} either, which it would be written with")


@lru_cache(maxsize=1)
def lowerable() -> frozenset[str]:
    """Operators that a pass of this family is asked about."""
    lowering = (declared for declared in passes() if declared.family == "lowering")
    return frozenset(root for one in lowering for each in one().rules() for root in each.roots)


def along_axis(
    lowering: Lowering, value: Operand, weights: NDArray[Any], *, axis: int, rank: int
) -> Operand:
    """A value with one of its axes multiplied by a constant matrix, in the type of the first input.

    Args:
        lowering: makes the nodes.
        value: of so many axes.
        weights: [new size, old size].
        axis: the one that is multiplied.
        rank: the number of axes.
    """
    like = lowering.input(0)
    if axis == rank - 1:
        return lowering.new("MatMul", value, lowering.like(weights.T, like))
    if axis == rank - 2:
        return lowering.new("MatMul", lowering.like(weights, like), value)
    perm = [*(a for a in range(rank) if a != axis), axis]
    last = lowering.new("Transpose", value, perm=perm)
    product = lowering.new("MatMul", last, lowering.like(weights.T, like))
    return lowering.new("Transpose", product, perm=[perm.index(a) for a in range(rank)])


def extra_bytes(before: ir.Value, factor: float) -> str:
    """What a copy of a value that is `factor` times as large takes, in words."""
    shape, dtype = before.shape, before.dtype
    share = f"{times_text(factor)} its input"
    if shape is None or dtype is None:
        return f"a copy of {share}"
    free = [str(dim) for dim in shape if not isinstance(dim, int)]
    if any(dim == "None" for dim in free):
        return f"a copy of {share}"
    size = math.prod(dim for dim in shape if isinstance(dim, int)) * dtype.itemsize * factor
    each = f" for each {' · '.join(free)}" if free else ""
    return f"a copy of {bytes_text(size)}{each}, {share}"
