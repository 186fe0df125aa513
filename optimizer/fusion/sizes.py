"""Free sizes of a region under names of their own, whatever the model calls them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx_ir as ir

from optimizer.dimension import Dimension, Expression, symbol
from optimizer.operators.call import Content, Dim, Fact, Known


class SizeNames:
    """`s0`, `s1`, … for what the axes of a kernel's inputs say.

    An axis that is one symbol gives that symbol; one that is an expression of symbols that no axis
    gives stands for itself as a whole.

    Attributes:
        meanings: what each name stands for in the model.
    """

    def __init__(self, shapes: Sequence[Sequence[Dimension]]) -> None:
        self.meanings: dict[str, Dimension] = {}
        self._symbols: dict[str, Dimension] = {}
        self._wholes: dict[Dimension, Dimension] = {}
        sizes = [size for shape in shapes for size in shape if isinstance(size, Expression)]
        for size in sizes:
            if size.symbols() == frozenset([str(size)]) and str(size) not in self._symbols:
                self._symbols[str(size)] = self._new(size)
        for size in sizes:
            if size not in self._wholes and not size.symbols() <= self._symbols.keys():
                self._wholes[size] = self._new(size)

    def named(self, size: Dim) -> Dim:
        """A size over the names; a symbol that no input gives has a `?` in front."""
        if not isinstance(size, Expression):
            return size
        if size in self._wholes:
            return self._wholes[size]
        return size.evaluate(
            {name: self._symbols.get(name, symbol(f"?{name}")) for name in size.symbols()}
        )

    def fact(self, known: Known) -> Known:
        """What is known about a value, over the names."""

        def found(value: ir.Value) -> Fact:
            fact = known(value)
            shape = None if fact.shape is None else [self.named(size) for size in fact.shape]
            dims = None if shape is None else tuple(size for size in shape if size is not None)
            return replace(fact, shape=dims, content=self._content(fact.content))

        return found

    def _content(self, content: Content) -> Content:
        if isinstance(content, tuple):
            return tuple(self.named(one) for one in content)
        return self.named(content)

    def _new(self, meaning: Dimension) -> Dimension:
        name = f"s{len(self.meanings)}"
        self.meanings[name] = meaning
        return symbol(name)
