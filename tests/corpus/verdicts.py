"""Loads every model of the corpus in one process of its own, and prints what became of each.

`python -m tests.corpus.verdicts OUT` expects the cases under `OUT/<name>/` and prints JSON.
"""

from __future__ import annotations

import json
import resource
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from optimizer.errors import StudioError
from optimizer.model.loader import load_path
from profiling.execution.runner import peak_resident_bytes
from tests.corpus.bad_inputs import model_path

ADDRESS_SPACE_BYTES = 3 << 30


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the loader made of one case.

    Attributes:
        outcome: `reject`, `view` (not runnable) or `run`.
        error: the class of the error, empty if the model was opened.
        message: the error, or why the model cannot be run.
        findings: how many there were.
    """

    outcome: str
    error: str
    message: str
    findings: int


def verdict(path: Path) -> Verdict:
    try:
        model = load_path(path)
    except StudioError as error:
        return Verdict("reject", type(error).__name__, str(error), len(error.findings))
    runnable = model.statuses.runnable
    return Verdict("run" if runnable.ok else "view", "", runnable.reason, len(model.findings))


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    folders = sorted(Path(sys.argv[1]).iterdir())
    verdicts = {folder.name: asdict(verdict(model_path(folder))) for folder in folders}
    print(json.dumps({"verdicts": verdicts, "peak_bytes": peak_resident_bytes()}))


if __name__ == "__main__":
    main()
