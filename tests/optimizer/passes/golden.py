"""Golden cases: `tests/golden/<pass id>/<what-happens-when>.txt`.

A case is text with the sections `=== before`, `=== after` and, where near misses are left,
`=== declined`. Lines above `=== before` are comments and start with `#`; `# feed n = 2 8` gives the
input `n` these numbers where the case is run, instead of random ones; `# option ranges = [...]`
gives an option of the pass, as JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from optimizer.isolation import within_worker
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, find, passes
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.trace import Trace
from tests.optimizer.graphs import opened, printed

FOLDER = Path(__file__).parents[2] / "golden"
FEED = re.compile(r"^# feed (\w+) = (.+)$", re.MULTILINE)
OPTION = re.compile(r"^# option (\w+) = (.+)$", re.MULTILINE)
_SECTION = re.compile(r"^=== (\w+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """One golden file.

    Attributes:
        path: where it is.
        head: the comments.
        sections: text by name; missing ones are empty.
    """

    path: Path
    head: str
    sections: dict[str, str]

    @property
    def pass_id(self) -> str:
        """The pass the case is about."""
        return self.path.parent.name

    @property
    def before(self) -> str:
        """The source, as ONNX text."""
        return self.sections["before"]

    @property
    def configured(self) -> Pass:
        """The pass with the options of the case."""
        found = find(self.pass_id)
        assert found is not None, f"no pass is called {self.pass_id}"
        return found(**{name: json.loads(text) for name, text in OPTION.findall(self.head)})

    def feeds(self, proto: onnx.ModelProto) -> dict[str, np.ndarray]:
        """The numbers that the comments give to inputs."""
        kinds = {value.name: value.type.tensor_type.elem_type for value in proto.graph.input}
        return {
            name: np.array(text.split(), dtype=onnx.helper.tensor_dtype_to_np_dtype(kinds[name]))
            for name, text in FEED.findall(self.head)
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a pass made of a case.

    Attributes:
        sections: text by name, as it should stand in the file.
        trace: how it came to that.
    """

    sections: dict[str, str]
    trace: Trace


def cases() -> list[Case]:
    """Every golden case, without those of tools that are not installed."""
    absent = {declared.id for declared in passes() if declared.missing()}
    paths = sorted(FOLDER.glob("*/*.txt"))
    return [read(path) for path in paths if path.parent.name not in absent]


def read(path: Path) -> Case:
    """A case from its file."""
    head, *parts = _SECTION.split(path.read_text())
    sections = {name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}
    return Case(path, head, sections)


def run(case: Case) -> Outcome:
    """Run the one pass to its fixpoint."""
    model = opened(case.before)
    trace = optimize(model, Pipeline((case.configured,)), isolate=within_worker)
    sections = {"before": case.before, "after": printed(model.ir)}
    if trace.declined:
        sections["declined"] = "\n".join(f"{d.rule}: {d.reason}" for d in trace.declined)
    return Outcome(sections, trace)


def write(case: Case, outcome: Outcome) -> None:
    """Make the file say what happened."""
    body = "".join(f"=== {name}\n{text}\n" for name, text in outcome.sections.items())
    case.path.write_text(case.head + body)
