"""Einsum as Transpose, Reshape and MatMul."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.passes.draft import NotHere, dims_of
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement


@register
class LowerEinsum(Pass):
    """Write Einsum as MatMul.

    What it does:
        Letters that only one operand has are summed; of two operands the shared letters that stay
        are batches, those that go are multiplied away: a MatMul of operands whose axes are
        transposed and merged. More operands are multiplied from the left. Of a letter that stands
        twice in an operand the diagonal is kept; "…" stands for the axes before those with letters.
    Before:
        Einsum
    After:
        Transpose → Reshape → MatMul → Reshape → Transpose
    When it is safe:
        The sizes are known but for one, and agree; an ellipsis is in the result, too.
    Numerics:
        The same products, added in another order.
    Source:
        ONNX operator specification, Einsum.
    """

    id = "lower-einsum"
    exactness = "reassociates"

    profile: str = "matrix-engine"

    @lowers("Einsum", name="ProductOfLetters")
    def match(self, lowering: Lowering) -> Replacement:
        """The operands from the left, then the axes in the order of the result."""
        terms, result = _equation(lowering)
        sizes = _sizes(lowering, terms)
        operands = [_diagonal(lowering, index, letters) for index, letters in enumerate(terms)]
        total = _summed(lowering, operands[0], _needed(operands[1:], result))
        for index, other in enumerate(operands[1:], 2):
            needed = _needed(operands[index:], result)
            right = _summed(lowering, other, needed | set(total.letters))
            left = _summed(lowering, total, needed | set(right.letters))
            total = _multiplied(lowering, (left, right), needed, sizes)
        total = _summed(lowering, total, set(result))
        value = _ordered(lowering, total, result)
        return lowering.put(value, "Shared letters are batches or multiplied away.")


@dataclass(frozen=True, slots=True)
class Term:
    """A value whose axes have letters."""

    value: Operand
    letters: str


_ELLIPSIS = "..."
_OURS = 0x100
"""Where letters of our own begin: behind those that an equation may have."""


def _equation(lowering: Lowering) -> tuple[list[str], str]:
    """The letters of each operand, and of the result; axes of an ellipsis get letters of ours.

    Raises:
        NotHere: it does not fit its operands.
    """
    equation = lowering.text("equation", "").replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if not arrow:
        letters = sorted(set(left) - {","})
        once = (letter for letter in letters if letter != "." and left.count(letter) == 1)
        result = "..." * ("." in left) + "".join(once)
    if len(terms) != len(lowering.node.inputs):
        raise NotHere("its equation has another number of operands")
    counts = [lowering.rank(lowering.input(i)) - len(t) + 3 for i, t in enumerate(terms)]
    most = max((n for n, term in zip(counts, terms, strict=True) if _ELLIPSIS in term), default=0)
    if most < 0 or (most and _ELLIPSIS not in result):
        raise NotHere("its equation does not fit its operands")
    axes = [chr(_OURS + index) for index in range(most)]
    terms = [
        term.replace(_ELLIPSIS, "".join(axes[most - n :]))
        for n, term in zip(counts, terms, strict=True)
    ]
    return terms, result.replace(_ELLIPSIS, "".join(axes))


def _diagonal(lowering: Lowering, index: int, letters: str) -> Term:
    """An operand whose letters are all different: of those that are not, the diagonal."""
    value: Operand = lowering.input(index)
    dims = list(dims_of(lowering.input(index)))
    while len(set(letters)) < len(letters):
        second = next(i for i, letter in enumerate(letters) if letter in letters[:i])
        first, size = letters.index(letters[second]), dims[second]
        if size is None or dims[first] != size:
            raise NotHere("a letter stands twice in an operand, and its size is free in the file")
        shape = [size if axis in (first, second) else 1 for axis in range(len(letters))]
        kept = lowering.weight(np.eye(size, dtype=np.bool_).reshape(shape))
        value = lowering.new("Where", kept, value, lowering.number(lowering.input(index), 0))
        value = lowering.reduce("ReduceSum", value, [second], keep=False)
        letters = letters[:second] + letters[second + 1 :]
        del dims[second]
    return Term(value, letters)


def _sizes(lowering: Lowering, terms: Sequence[str]) -> dict[str, int | None]:
    """The size of each letter; None where it is free."""
    found: dict[str, int | None] = {}
    for index, letters in enumerate(terms):
        dims = dims_of(lowering.input(index))
        if len(dims) != len(letters):
            raise NotHere("its equation has another number of axes")
        for letter, dim in zip(letters, dims, strict=True):
            known = found.get(letter)
            if known is not None and dim is not None and known != dim:
                raise NotHere("a letter has two sizes")
            found[letter] = dim if known is None else known
    return found


def _needed(later: Sequence[Term], result: str) -> set[str]:
    return {letter for term in later for letter in term.letters} | set(result)


def _summed(lowering: Lowering, term: Term, wanted: set[str]) -> Term:
    """Without the letters that nobody else has."""
    axes = [axis for axis, letter in enumerate(term.letters) if letter not in wanted]
    if not axes:
        return term
    kept = "".join(letter for letter in term.letters if letter in wanted)
    return Term(lowering.reduce("ReduceSum", term.value, axes, keep=False), kept)


def _ordered(lowering: Lowering, term: Term, letters: str) -> Operand:
    if term.letters == letters:
        return term.value
    perm = [term.letters.index(letter) for letter in letters]
    return lowering.new("Transpose", term.value, perm=perm)


def _multiplied(
    lowering: Lowering, pair: tuple[Term, Term], needed: set[str], sizes: dict[str, int | None]
) -> Term:
    """[batches, rows, inner] times [batches, inner, columns]."""
    left, right = pair
    shared = [letter for letter in left.letters if letter in right.letters]
    batches = "".join(letter for letter in shared if letter in needed)
    inner = "".join(letter for letter in shared if letter not in needed)
    rows = "".join(letter for letter in left.letters if letter not in right.letters)
    columns = "".join(letter for letter in right.letters if letter not in left.letters)
    first = _merged(lowering, left, (batches, rows, inner), sizes)
    second = _merged(lowering, right, (batches, inner, columns), sizes)
    product = lowering.new("MatMul", first, second)
    letters = batches + rows + columns
    if len(rows) == len(columns) == 1:
        return Term(product, letters)
    apart = lowering.reshape(product, *_target([*batches, *rows, *columns], sizes))
    return Term(apart, letters)


def _merged(
    lowering: Lowering, term: Term, groups: tuple[str, str, str], sizes: dict[str, int | None]
) -> Operand:
    """Axes in the order of the groups; the second and the third group one axis each."""
    value = _ordered(lowering, term, "".join(groups))
    batches, *others = groups
    if all(len(group) == 1 for group in others):
        return value
    merged = [_product([sizes[letter] for letter in group]) for group in others]
    listed = [*(sizes[letter] for letter in batches), *merged]
    if sum(size is None for size in listed) > 1:
        raise NotHere("more than one of its sizes is free in the file")
    return lowering.reshape(value, *(-1 if size is None else size for size in listed))


def _product(sizes: Sequence[int | None]) -> int | None:
    result = 1
    for size in sizes:
        if size is None:
            return None
        result *= size
    return result


def _target(letters: Sequence[str], sizes: dict[str, int | None]) -> list[int]:
    free = [letter for letter in letters if sizes[letter] is None]
    if len(free) > 1:
        raise NotHere("more than one of its sizes is free in the file")
    return [-1 if sizes[letter] is None else sizes[letter] or 0 for letter in letters]
