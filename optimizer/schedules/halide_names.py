"""Names in an exported program: of Funcs, of their loops, and of variables, which are declared."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence

from optimizer.loops.algorithm import LoopAxis
from optimizer.schedules.halide_words import Words

_RESERVED = {"hl", "np", "inputs", "output", "int", "float", "main", "min", "max", "select", "cast"}


class Names:
    """What has a name so far.

    Attributes:
        declared: definitions of variables, in order.
        axes: by Func, its variables by axis.
        loops: by Func and nest, the variables of its loops as the primitives so far left them.
    """

    def __init__(self, words: Words) -> None:
        self._words = words
        self._names: dict[tuple[str, str], str] = {}
        self._taken = set(_RESERVED)
        self._reducing: set[str] = set()
        self.declared: list[str] = []
        self.axes: dict[str, Mapping[str, str]] = {}
        self.loops: dict[tuple[str, int], dict[str, str]] = {}

    def func(self, name: str) -> str:
        """Of a Func or an input."""
        return self._name("func", name)

    def domain(self, func: str) -> str:
        """Of a reduction's domain."""
        return self._name("domain", f"{func}_domain")

    def placed(self, func: str, axes: Sequence[LoopAxis]) -> dict[str, str]:
        """The variables of a Func, whose loops they are until a primitive says otherwise."""
        places = {axis.name: self._variable(axis.name, "Var") for axis in axes}
        self.axes[func] = places
        self.loops[func, 0] = dict(places)
        return places

    def new_loop(self, func: str, nest: int, name: str, old: str) -> str:
        """A loop in the place of another one: over a reduction, if that one is."""
        reduces = "[" in old or old in self._reducing
        found = self._variable(name, "RVar" if reduces else "Var")
        if reduces:
            self._reducing.add(found)
        self.loops[func, nest][name] = found
        return found

    def _variable(self, name: str, kind: str) -> str:
        known = (kind, name) in self._names
        found = self._name(kind, name)
        if not known:
            self.declared.append(self._words.made(kind, found, [f'"{found}"']))
        return found

    def _name(self, kind: str, name: str) -> str:
        key = kind, name
        if key not in self._names:
            wish = re.sub(r"\W", "_", name)
            wish = wish if wish[:1].isalpha() else f"n{wish}"
            while wish in self._taken or keyword.iskeyword(wish):
                wish += "_"
            self._taken.add(wish)
            self._names[key] = wish
        return self._names[key]
