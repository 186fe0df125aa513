"""All of a text as a schedule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.outputs import output_nests
from optimizer.loops.schedule import (
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    In,
    Primitive,
    Schedule,
    Split,
    StoreAt,
    StoreRoot,
)
from optimizer.schedules.halide_source.directives import Directive, NotImported, directives_of
from optimizer.schedules.halide_source.names import SourceNames, identifier
from optimizer.schedules.halide_source.primitives import Call, primitives_of

_PLACES = (ComputeRoot, ComputeInline, ComputeAt, StoreAt, StoreRoot)


@dataclass(frozen=True)
class Imported:
    """A text as primitives.

    Attributes:
        schedule: each Func after those that read it, and its place before its loops: a nest after
            every step.
        left_out: sentences, one for each Func that is part of an expression here, and computed
            where it is read.
    """

    schedule: Schedule
    left_out: tuple[str, ...] = ()


def imported(text: str, algorithm: Algorithm, names: SourceNames) -> Imported:
    """A schedule that a text describes.

    Raises:
        NotImported: it is no schedule of this algorithm, or asks for what no primitive does.
    """
    return _Import(algorithm, names).done(text)


class _Import:
    """What the text has said so far."""

    def __init__(self, algorithm: Algorithm, names: SourceNames) -> None:
        self._algorithm, self._names = algorithm, names
        self._loops = dict(names.loops)
        self._said: dict[str, list[Primitive]] = {}
        self._copies: dict[str, In] = {}
        self._left_out: dict[str, None] = {}

    def done(self, text: str) -> Imported:
        for directive in directives_of(text):
            told = directive.func, directive.reader
            part = next((one for one in told if identifier(one) in self._names.parts), None)
            if part is not None:
                self._leave_out(part, directive)
                continue
            func = self._func(directive)
            call = Call(
                func,
                directive,
                lambda name, key=(func, directive.nest): self._loop(*key, name),
                self._reader,
                lambda name, key=(func, directive.nest): self._fresh(*key, name),
            )
            self._said.setdefault(func, []).extend(primitives_of(call))
        return Imported(Schedule(tuple(self._ordered())), tuple(self._left_out))

    def _leave_out(self, part: str, directive: Directive) -> None:
        if directive.name not in ("compute_inline", "store_in"):
            sentence = f"{part} has loops of its own in the text, and is part of an expression here"
            self._left_out[sentence] = None

    def _ordered(self) -> Iterator[Primitive]:
        """Readers first, and of each Func its place before its loops."""
        for name in self._order():
            if name in self._copies:
                yield self._copies[name]
            said = self._said.get(name, [])
            func = self._algorithm.by_name.get(name)
            if func and func.reduction and not any(isinstance(one, _PLACES) for one in said):
                yield ComputeInline(name)  # what Halide does with a reduction that has no place
            yield from (one for one in said if isinstance(one, _PLACES))
            yield from (one for one in said if not isinstance(one, _PLACES))

    def _order(self) -> Sequence[str]:
        own = [one.name for one in (*self._algorithm.inputs, *self._algorithm.funcs)]
        made = {
            name: [one.made for one in self._copies.values() if one.func == name] for name in own
        }
        with_copies = [name for one in own for name in (one, *made[one])]
        outputs = [name for name in self._said if name not in with_copies]
        return [*outputs, *reversed(with_copies)]

    def _func(self, directive: Directive) -> str:
        """Our name of the Func that a directive is about."""
        name = identifier(directive.func)
        if name in self._names.inputs:
            tensor = self._names.inputs[name]
            return self._copy(tensor, f"{tensor}_im", self._names.loops[tensor, 0])
        own = self._known(name)
        if not directive.reader:
            return own
        reader = self._known(identifier(directive.reader))
        axes = [axis.name for axis in self._algorithm.by_name[own].axes]
        loops = self._names.loops[own, 0].items()
        copied = {text: f"a{axes.index(loop)}" for text, loop in loops}
        if self._readers(own) == {reader}:
            return self._copy(own, f"{own}_in", copied)
        return self._copy(own, f"{own}_in_{reader}", copied, reader)

    def _known(self, name: str) -> str:
        if name not in self._names.funcs:
            there = ", ".join(self._names.funcs)
            raise NotImported(f"The schedule orders {name}, and there is no such Func: {there}.")
        return self._names.funcs[name]

    def _readers(self, func: str) -> set[str]:
        readers = {one.name for one, _ in self._algorithm.readers(func)}
        return readers | {one.name for one in output_nests(self._algorithm) if func in one.outputs}

    def _copy(self, tensor: str, made: str, loops: Mapping[str, str], reader: str = "") -> str:
        if made not in self._copies:
            self._copies[made] = In(tensor, made, reader)
            self._loops[made, 0] = loops
        return made

    def _loop(self, func: str, nest: int, name: str) -> str:
        """Our name of a loop: an axis', or the one that a split or a fusion gave it."""
        return self._loops.get((func, nest), {}).get(identifier(name), name)

    def _reader(self, func: str, loop: str) -> tuple[str, str]:
        own = self._known(identifier(func))
        for nest in (0, 1):
            loops = self._loops.get((own, nest), {})
            if identifier(loop) in loops:
                return own, loops[identifier(loop)]
        return own, loop

    def _fresh(self, func: str, nest: int, name: str) -> str:
        wish = f"{self._loop(func, nest, name)}_part"
        taken = {one.inner for one in self._said.get(func, []) if isinstance(one, Split)}
        while wish in taken:
            wish += "_"
        return wish
