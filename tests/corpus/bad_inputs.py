"""The hostile corpus: 166 broken or malicious models, written when they are needed.

`python -m tests.corpus.bad_inputs OUT [--only NAME ...]` writes them under `OUT/<name>/`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tests.corpus.cases import CASES, Case

FAMILIES = ("containers", "external_data", "structure", "tensors", "bombs", "kernels", "texts")

for _family in FAMILIES:
    import_module(f"tests.corpus.{_family}")


def generate(out: Path, names: Sequence[str] = ()) -> list[Case]:
    """Write the chosen cases, all by default, under `out/<name>/`."""
    chosen = [CASES[name] for name in names] or list(CASES.values())
    for item in chosen:
        folder = out / item.name
        folder.mkdir(parents=True)
        item.write(folder)
    return chosen


def model_path(folder: Path) -> Path:
    """The model of a case written into `folder`."""
    inner = folder / "inner" / "model.onnx"
    return inner if inner.exists() else folder / "model.onnx"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    print(len(generate(arguments.out, arguments.only)), "cases in", arguments.out)


if __name__ == "__main__":
    main()
