"""Einsum as Transpose, Reshape and MatMul."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
        transposed and merged. More operands are multiplied from the left.
    Before:
        Einsum
    After:
        Transpose → Reshape → MatMul → Reshape → Transpose
    When it is safe:
        The sizes are known but for one; no letter stands twice in an operand, and there is no "…".
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
        operands = [Term(lowering.input(index), letters) for index, letters in enumerate(terms)]
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


def _equation(lowering: Lowering) -> tuple[list[str], str]:
    """The letters of each operand, and of the result.

    Raises:
        NotHere: an ellipsis, or a letter twice in one operand.
    """
    equation = lowering.text("equation", "").replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if not arrow:
        letters = sorted(set(left) - {","})
        result = "".join(letter for letter in letters if left.count(letter) == 1)
    if "." in equation:
        raise NotHere("its equation leaves axes out (…)")
    if any(len(set(term)) < len(term) for term in terms):
        raise NotHere("a letter stands twice in an operand")
    if len(terms) != len(lowering.node.inputs):
        raise NotHere("its equation has another number of operands")
    return terms, result


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
