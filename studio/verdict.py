"""What a verification found, in one line."""

from __future__ import annotations

from optimizer.errors import plain
from optimizer.verify import Verification


def verdict_text(checked: Verification) -> str:
    """A verification in one line."""
    if checked.verdict != "equal":
        head = "Outputs differ" if checked.verdict == "differs" else "Not verified"
        return plain(f"{head}: {checked.reason}")
    if checked.same_bits:
        how = "bit for bit"
    else:
        how = f"within {checked.scaled:.1e} of the outputs' scale"
    weak = "" if checked.informative else "; but the outputs are constant, so that says little"
    return f"Verified on {checked.seeds} random inputs: equal {how}{weak}."
