"""Writes `docs/proofs.md`: `python -m tests.optimizer.proofs.page`, some minutes of Z3.

Every golden case of every pass that fires is proved, or listed with why not.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from optimizer.registry import FAMILIES, Pass, passes
from tests.optimizer.passes import golden
from tests.optimizer.proofs.dropped import DROPPED
from tests.optimizer.proofs.proving import Proof, proof_of
from tests.optimizer.proofs.sizes import CLAIMS

PAGE = Path(__file__).parents[3] / "docs" / "proofs.md"
PROVED = ("node", "block", "dataflow", "structure")
"""Families of the presets."""
NAMES = {"exact": "bits", "reassociates": "reals"}

HEAD = """<!-- Written by `python -m tests.optimizer.proofs.page`. -->

# Proofs

A test runs a rewrite on some numbers; Z3 asks whether there is *any* input on which the graphs
before and after it differ. What is proved here is what passes really do: each pass is run on its
own golden cases (`tests/golden/`), and both graphs are evaluated over unknowns, one for each
element of each input, at the small sizes that the case has, free dimensions at 2 to 8. That says
nothing of other sizes, except under *For all sizes*.

*Bits*, for passes that say `exact`: floats are those of IEEE 754 with -0, infinities, subnormal
numbers and NaN, which is one value whatever its payload; integers are words that wrap around; equal
is the same bits.

*Reals*, for passes that say `reassociates`: floats are real numbers, a constant is the simplest
fraction that rounds to it, or √2, and no divisor is 0. *Up to rounding* means that both sides are
polynomials of the inputs whose coefficients, computed by the pass in float32, differ by less than
2⁻²⁰ of their sum, or that the sides differ by less than 2⁻¹⁴ where no input is beyond 1. Where
floats are rounded, overflow or vanish on the way, tests with numbers are what there is.

Where elements move to is asked of ONNX Runtime, with the numbers of their places as elements. What
is arithmetic is held to ONNX Runtime on special numbers, to the bit, but for two things: which of
+0 and -0 Max and Min take is left open (Clip leaves a zero as it is), and the runtime's Where makes
+0 of -0. Among reals, an operator that ONNX defines by others is its definition. Any other is
*some* function of all it reads, the same one wherever operator and attributes are the same: what is
proved of it holds whatever it computes.
"""


def main() -> int:
    """Write the page; 1 where something is refuted."""
    found = proofs()
    PAGE.write_text(page(found))
    refuted = [name for name, proof in found.items() if proof.verdict == "refuted"]
    print(f"{PAGE.name}: {len(found)} cases, {len(refuted)} refuted {refuted or ''}")
    return 1 if refuted else 0


def proofs() -> Mapping[tuple[str, str], Proof]:
    """What Z3 says, by pass and case, of every case that fires; `lossy` passes promise nothing."""
    cases = [case for case in golden.cases() if not _left_out(type(case.configured))]
    found: dict[tuple[str, str], Proof] = {}
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for case, proof in zip(cases, pool.map(proof_of, cases, chunksize=4), strict=True):
            if proof is not None:
                found[case.pass_id, case.path.stem] = proof
                print(f"{proof.verdict:22} {case.pass_id}/{case.path.stem}", file=sys.stderr)
    return found


def _left_out(declared: type[Pass]) -> bool:
    return declared.exactness == "lossy" or declared.family not in PROVED


def page(found: Mapping[tuple[str, str], Proof]) -> str:
    """The text."""
    count = Counter(proof.verdict for proof in found.values())
    proved = sum(number for name, number in count.items() if name.startswith("proved"))
    lines = [
        HEAD,
        f"Of {len(found)} golden cases in which a pass fires, {proved} are proved,"
        f" {count['proved up to rounding']} of them up to rounding, {count['proved as reals']} of"
        f" exact passes among real numbers only, {count['refuted']} refuted."
        " For the others Z3 has no answer, or there are no terms; the reasons stand below.\n",
        *_table(found),
        "\n## What conditions keep away\n",
        "What a rule would do without one of its conditions, or if it promised more, and inputs"
        " that Z3 then finds. Some are classics that no rule of ours has.\n",
        *_dropped(),
        "\n## For all sizes\n",
        "Where a rule computes places, small sizes prove little. This holds for all integers;"
        " that the code computes the same as the formula is tested on all small numbers.\n",
        *_sizes(),
        "\n## Not proved\n",
        *_open(found),
    ]
    return "\n".join(lines) + "\n"


def without_examples(text: str) -> list[str]:
    """Lines of the page, less what Z3 chooses, which may be another time something else.

    That is the inputs by which it refutes, and the operator, of those not known, that it makes up.
    """
    lines = [line.rsplit("|", 2)[0] if "⇒" in line else line for line in text.splitlines()]
    return [re.sub(r"\w+ is any function here", "", line) for line in lines]


def _table(found: Mapping[tuple[str, str], Proof]) -> Iterator[str]:
    yield "| pass | rules | theory | cases | proved |"
    yield "|---|---|---|--:|--:|"
    for declared in passes():
        held = [proof for (pass_id, _), proof in found.items() if pass_id == declared.id]
        if not held:
            continue
        rules = ", ".join(dict.fromkeys(rule for proof in held for rule in proof.rules))
        yield (
            f"| [{declared.id}](passes/{declared.id}.md) | {rules} | {NAMES[declared.exactness]}"
            f" | {len(held)} | {_share(held)} |"
        )


def _share(held: Sequence[Proof]) -> str:
    count = Counter(proof.verdict for proof in held if proof.verdict.startswith("proved"))
    parts = [f"{number} {name.removeprefix('proved')}".strip() for name, number in count.items()]
    return " + ".join(parts) or "0"


def _dropped() -> Iterator[str]:
    yield "| pass | condition | without it | differs for |"
    yield "|---|---|---|---|"
    for one in DROPPED:
        proof = one.proof()
        assert proof.verdict == "refuted", one
        yield f"| {one.pass_id} | {one.condition} | `{one.shown()}` | {proof.detail} |"


def _sizes() -> Iterator[str]:
    yield "| claim | says Z3 |"
    yield "|---|---|"
    for claim in CLAIMS:
        yield f"| {claim.text} | {claim.verdict()} |"


def _open(found: Mapping[tuple[str, str], Proof]) -> Iterator[str]:
    for (pass_id, case), proof in found.items():
        if not proof.verdict.startswith("proved"):
            yield f"* `{pass_id}`, {case.replace('-', ' ')}: {proof.detail}."
    lossy = [one.id for one in passes() if one.exactness == "lossy"]
    yield f"* Nothing is claimed of passes that give precision away: {', '.join(lossy)}."
    others = ", ".join(family for family in FAMILIES if family not in PROVED)
    yield f"* Families that are in no preset are left to tests with numbers: {others}."


if __name__ == "__main__":
    sys.exit(main())
