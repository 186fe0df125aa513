"""Golden cases as theorems: for all inputs, a case and what a pass made of it compute the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import onnx

from optimizer.isolation import within_worker
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.passes.golden import Case
from tests.optimizer.proofs.evaluator import UNKNOWN, outputs_of
from tests.optimizer.proofs.polynomials import coefficients, same_fraction
from tests.optimizer.proofs.smt import Term, Unsupported, z3
from tests.optimizer.proofs.tensors import Symbolic, Tensor, lifted, unknown
from tests.optimizer.proofs.theories import Bits, Reals, Theory, is_float
from tests.optimizer.running import OTHER_SIZE, SIZES

EFFORT = 40_000_000
"""Z3's own measure of work, the same on every machine, after which nothing is known."""
PATIENCE_MS = 120_000
"""For the searches that do not count their work."""
ROUNDING = Fraction(1, 2**20)
"""How far coefficients may be off where a pass computes them in float32, of the sum of all."""
CLOSE = 2.0**-14
"""The same where a side is no polynomial, over inputs of at most 1."""

TOO_LARGE = ("recognize-attention", "recognize-rotary-embedding")
"""Passes in whose cases a softmax or a rotation lies between products."""

Verdict = Literal[
    "proved", "proved up to rounding", "proved as reals", "refuted", "open", "no terms"
]


@dataclass(frozen=True, slots=True)
class Proof:
    """What Z3 says of two graphs.

    Attributes:
        verdict: `open` where it gave up, `no terms` where something has no term.
        detail: inputs that tell the graphs apart, or the reason.
        rules: those that fired, by name.
    """

    verdict: Verdict
    detail: str = ""
    rules: tuple[str, ...] = ()


def theory_of(exactness: str) -> Theory:
    """The theory in which a pass keeps its promise."""
    return Bits() if exactness == "exact" else Reals()


def proof_of(case: Case) -> Proof | None:
    """Run the pass on its case and compare; None where it does not fire."""
    configured = case.configured
    model = opened(case.before)
    before = proto_of(model.ir)
    trace = optimize(model, Pipeline((configured,)), isolate=within_worker)
    if not trace.rewrites:
        return None
    rules = tuple(dict.fromkeys(rewrite.rule for rewrite in trace.rewrites))
    theory = theory_of(configured.exactness)
    if case.pass_id in TOO_LARGE:
        return Proof("open", "more terms than Z3 answers for within minutes", rules)
    after, known = proto_of(model.ir), case.feeds(before)
    found = compared(before, after, theory, known)
    if found.verdict == "open" and theory.name == "bits":
        weaker = compared(before, after, Reals(), known)
        if weaker.verdict == "proved":
            return Proof("proved as reals", "to the bit, " + found.detail, rules)
    return Proof(found.verdict, found.detail, rules)


def compared(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    theory: Theory,
    known: Mapping[str, np.ndarray] | None = None,
) -> Proof:
    """Whether two graphs with the same inputs give the same outputs for all of them.

    Args:
        before: the source.
        after: what should compute the same.
        theory: what floats are.
        known: inputs that are given; integer ones alone, since those are sizes and indices.
    """
    if foreign := _undefined(before, after):
        return Proof("no terms", f"{foreign} has no definition by ONNX")
    try:
        inputs = _inputs(before, theory, known or {})
        first, second = (outputs_of(model, inputs, theory) for model in (before, after))
        pairs = _pairs(first, second, theory)
    except Unsupported as reason:
        return Proof("no terms", str(reason))
    if isinstance(pairs, str):
        return Proof("refuted", pairs)
    return _judged(pairs, inputs, theory)


def _undefined(before: onnx.ModelProto, after: onnx.ModelProto) -> str:
    """A new operator that is neither ONNX's own nor a function of the model."""
    known = {(one.domain, one.name) for one in after.functions}
    known |= {(node.domain, node.op_type) for node in before.graph.node}
    names = ((node.domain, node.op_type) for node in after.graph.node if node.domain)
    return next((f"{domain}::{name}" for domain, name in names if (domain, name) not in known), "")


def _inputs(
    model: onnx.ModelProto, theory: Theory, known: Mapping[str, np.ndarray]
) -> dict[str, Tensor]:
    fixed = {tensor.name for tensor in model.graph.initializer}
    found: dict[str, Tensor] = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        if value.name in fixed and model.ir_version < 4:
            continue
        if value.name in known and not is_float(kind.elem_type):
            found[value.name] = known[value.name]
            continue
        shape = [d.dim_value or SIZES.get(d.dim_param, OTHER_SIZE) for d in kind.shape.dim]
        found[value.name] = unknown(value.name, kind.elem_type, shape, theory)
    return found


def _pairs(
    first: Sequence[Tensor], second: Sequence[Tensor], theory: Theory
) -> list[tuple[Term, Term]] | str:
    """Elements that have to be equal, or why shapes or types alone tell the graphs apart."""
    pairs: list[tuple[Term, Term]] = []
    for a, b in zip(first, second, strict=True):
        left, right = lifted(a, theory), lifted(b, theory)
        if left.kind != right.kind:
            return "another element type"
        if left.terms.shape != right.terms.shape:
            return f"shape {list(left.terms.shape)} becomes {list(right.terms.shape)}"
        pairs += zip(left.terms.ravel(), right.terms.ravel(), strict=True)
    return [(a, b) for a, b in pairs if not z3.eq(a, b)]


def _judged(
    pairs: Sequence[tuple[Term, Term]], inputs: Mapping[str, Tensor], theory: Theory
) -> Proof:
    if not pairs:
        return Proof("proved")
    if theory.name == "reals":
        pairs = [(a, b) for a, b in pairs if not same_fraction(a, b)]
        if _near(pairs):
            return Proof("proved up to rounding" if pairs else "proved")
    facts = theory.facts
    if theory.name == "bits" and _same_parts(pairs, facts):
        return Proof("proved")
    differ = z3.Or([a != b for a, b in pairs])
    result, model = _solved([*facts, differ])
    if result == z3.unsat:
        return Proof("proved")
    if theory.name == "reals" and _near_within(pairs, inputs, facts):
        return Proof("proved up to rounding")
    if result == z3.sat and (name := _unknown(model)):
        return Proof("open", f"{name} is any function here")
    if result == z3.sat:
        return Proof("refuted", _shown(model, inputs))
    return Proof("open", "Z3 gave up")


def _same_parts(pairs: Sequence[tuple[Term, Term]], facts: Sequence[Term]) -> bool:
    """Whether both sides are the same operation on operands that are equal.

    Sums and products of floats are hard to tell from each other to the bit, their operands are not.
    """
    if not all(_alike(a, b) for a, b in pairs):
        return False
    operands = [
        (x, y)
        for a, b in pairs
        for x, y in zip(a.children(), b.children(), strict=True)
        if not z3.eq(x, y)
    ]
    return _solved([*facts, z3.Or([x != y for x, y in operands])])[0] == z3.unsat


def _alike(a: Term, b: Term) -> bool:
    return bool(a.num_args()) and a.num_args() == b.num_args() and z3.eq(a.decl(), b.decl())


def _near(pairs: Sequence[tuple[Term, Term]]) -> bool:
    """Whether both sides are polynomials whose coefficients differ by rounding alone."""
    for a, b in pairs:
        size, apart = coefficients(a), coefficients(a - b)
        if size is None or apart is None or apart > size * ROUNDING:
            return False
    return True


def _near_within(
    pairs: Sequence[tuple[Term, Term]], inputs: Mapping[str, Tensor], facts: Sequence[Term]
) -> bool:
    """Whether sides that are no polynomials are close wherever no input is beyond 1."""
    given = [t for one in inputs.values() if isinstance(one, Symbolic) for t in one.terms.ravel()]
    bounded = [z3.And(t >= -1, t <= 1) for t in given if z3.is_real(t)]
    if not all(z3.is_real(a) for a, _ in pairs):
        return False
    far = z3.Or([z3.Or(a - b > CLOSE, b - a > CLOSE) for a, b in pairs])
    return _solved([*facts, *bounded, far])[0] == z3.unsat


def _solved(claims: Sequence[Term]) -> tuple[Term, Term]:
    solver = z3.Solver()
    solver.set("rlimit", EFFORT)
    solver.set("timeout", PATIENCE_MS)
    solver.add(*claims)
    result = solver.check()
    return result, solver.model() if result == z3.sat else None


def _unknown(model: Term) -> str:
    """An operator of which nothing was known, where the model makes one up."""
    names = sorted(one.name() for one in model.decls() if one.name().startswith(UNKNOWN))
    return names[0].removeprefix(UNKNOWN).split("[")[0].split(" ")[0] if names else ""


def _shown(model: Term, inputs: Mapping[str, Tensor]) -> str:
    """The inputs that matter in a counter-example, as a person writes them."""
    parts: list[str] = []
    for one in inputs.values():
        for term in one.terms.ravel() if isinstance(one, Symbolic) else ():
            value = model.eval(term)
            if not z3.eq(value, term):
                parts.append(f"{term.decl().name()} = {written(value)}")
    return ", ".join(parts[:4]) or "any inputs"


def written(value: Term) -> str:
    """A value of Z3 as a number."""
    if z3.is_fp(value):
        if z3.fpIsNaN(value) is not None and value.isNaN():
            return "NaN"
        if value.isInf():
            return "-∞" if value.isNegative() else "∞"
        if value.isZero():
            return "-0" if value.isNegative() else "0"
        number = z3.simplify(z3.fpToReal(value)).as_fraction()
        return f"{float(number):.9g}"
    if z3.is_bv_value(value):
        return str(value.as_signed_long())
    if z3.is_rational_value(value):
        return f"{float(value.as_fraction()):.6g}"
    return str(value)
