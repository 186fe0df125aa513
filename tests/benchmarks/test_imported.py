"""The table of other optimizers in both orders: what is kept is read again, what marks say."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.imported import IMPORTED, Cell, Kept, lines

EQUAL = Cell((4, 2), "equal", 1, confidence=(0.5, 1.0))


def test_a_run_that_is_kept_is_read_as_it_was(tmp_path: Path) -> None:
    kept = {"portable/preset": EQUAL, "optimize-by-onnxruntime/after": Cell(failure="it hangs")}
    file = tmp_path / "a.json"
    file.write_text(json.dumps({key: asdict(cell) for key, cell in kept.items()}))
    assert Kept.read(file, "a").cells == kept
    assert Kept.read(tmp_path / "b.json", "b").cells == {}


def test_the_table_marks_what_is_special_and_names_what_breaks() -> None:
    one = "optimize-by-onnxruntime"
    assert one in IMPORTED
    broken = Cell((4, 4), "equal", 0, failed=("ONNX Runtime, X: breaks the model: y | z",))
    row = Kept("net", {"portable/preset": EQUAL, f"{one}/before": broken, f"{one}/after": EQUAL})
    text = "\n".join(lines([row, Kept("late")]))
    assert "| net | 4 | 2 | 4! / 2 |" in text
    assert f"| {one} | before | net | ONNX Runtime, X: breaks the model: y / z |" in text
    assert f"| {one} | after | 1 of 1 | 1 | 0 | 0 | 0 | 0 | 0.75 |" in text
    assert text.rstrip().endswith("- late")
