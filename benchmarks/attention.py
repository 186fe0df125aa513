"""How many attentions of a network are recognized, and what that is worth.

    python -m benchmarks.attention FOLDER ... [--write FILE] [--no-race]

Every model is optimized twice with the preset `cpu`: as it is, and without the passes that
make Attention and RotaryEmbedding. Attentions of the source are Softmaxes of scores that are
multiplied with something after it; recognized are those that the steps of the run name. The result
is compared with the source on ONNX Runtime without its own optimizations, on random inputs and, for
networks of `benchmarks.networks.library`, on the inputs that lie beside them. Both results run in
turns on one thread, under all of the runtime's own optimizations; their CPU time counts.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime as ort

import passlens
from benchmarks.machine import describe
from benchmarks.report import parser, publish, rows_of, section
from optimizer.errors import StudioError
from optimizer.model.graph import walk_nodes
from optimizer.verify.comparison import RTOL

PASSES = ("raise-opset-for-attention", "recognize-attention", "recognize-rotary-embedding")
RULES = ("Attention", "HeadsInside", "RepeatedHeads", "EarlierKeys", "RotaryEmbedding")
SECONDS = 1.0
_ON_THE_WAY = frozenset({"Cast", "Dropout", "Identity", "IsNaN", "Reshape", "Unsqueeze", "Where"})
"""What may stand between a Softmax and the product with the values."""

Feeds = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One model.

    Attributes:
        attentions: of the source, and those still spelled out in the result.
        steps: how often each of `RULES` fired.
        nodes: left without and with the passes.
        outputs: "equal", "differs", or that nothing could be run.
        ratio: CPU time with the passes over that without; None where it was not measured.
        reasons: why some were not recognized.
    """

    name: str
    attentions: tuple[int, int]
    steps: Mapping[str, int]
    nodes: tuple[int, int]
    outputs: str
    ratio: float | None
    reasons: tuple[str, ...]


def attentions_of(model: passlens.Model) -> int:
    """Softmaxes whose shares are multiplied with values."""
    found = 0
    for node in walk_nodes(model.ir.graph):
        if node.op_type != "Softmax" or node.domain:
            continue
        front = [node.outputs[0]]
        for _ in range(4):
            readers = [reader for value in front for reader, _ in value.uses()]
            if any(reader.op_type in ("MatMul", "Einsum") for reader in readers):
                found += 1
                break
            front = [r.outputs[0] for r in readers if r.op_type in _ON_THE_WAY]
    return found


def measured(path: Path, *, race: bool) -> Row:
    """One model, optimized twice, compared and raced."""
    source = passlens.open_model(path)
    with_them = passlens.optimize(source, "cpu")
    without = passlens.optimize(source, passlens.Pipeline.of("cpu", disable=PASSES))
    steps = Counter(
        step.rule.removeprefix("Interleaved")
        for step in with_them.rewrites
        if step.pass_id in PASSES
    )
    reasons = {
        f"{near.condition}: {near.detail}" if near.detail else near.condition
        for near in with_them.declined
        if near.rule in ("Attention", "AttentionBeforeOpset")
    }
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("with.onnx", "without.onnx")]
        for trace, file in zip((with_them, without), files, strict=True):
            passlens.export(trace, file)
        outputs = _compared(path, files[0])
        ratio = _raced(path, files) if race else None
    return Row(
        path.stem,
        (attentions_of(source), attentions_of(passlens.replay(with_them))),
        {rule: steps[rule] for rule in RULES},
        (_nodes(without), _nodes(with_them)),
        outputs,
        ratio,
        tuple(sorted(reasons)),
    )


def _nodes(trace: passlens.Trace) -> int:
    graph = passlens.replay(trace).ir.graph
    return sum(node.op_type != "Constant" for node in walk_nodes(graph))


def _compared(source: Path, result: Path) -> str:
    """Random inputs, and those beside the model where there are any.

    Raises:
        StudioError: the model does not run on those beside it.
    """
    found = passlens.verify(source, result).verdict
    feeds = _feeds(source)
    if feeds is None or found == "differs":
        return found
    try:
        before = _session(source, optimize=False).run(None, feeds)
    except Exception as error:  # the runtime's errors have no base of their own
        message = str(error).partition(" Status Message: ")[2] or str(error)
        raise StudioError(f"Its file does not run: {message.splitlines()[0]}") from error
    after = _session(result).run(None, feeds)
    equal = all(
        np.allclose(b, a, rtol=0, atol=RTOL * max(1e-6, float(np.abs(b).max())))
        for a, b in zip(after, before, strict=True)
    )
    return "equal" if equal else "differs"


def _feeds(path: Path) -> Feeds | None:
    beside = path.with_suffix(".npz")
    if not beside.exists():
        return None
    with np.load(beside) as arrays:
        names = {each.name for each in _session(path).get_inputs()}
        return {name: array for name, array in arrays.items() if name in names}


def _session(path: Path, *, optimize: bool = True) -> Any:
    options = cast("Any", ort.SessionOptions())
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if not optimize:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _raced(source: Path, files: list[Path]) -> float | None:
    """CPU time of the first over that of the second, in turns."""
    sessions = [_session(file) for file in files]
    feeds = _feeds(source) or _drawn(sessions[0])
    if feeds is None:
        return None
    times: list[list[float]] = [[], []]
    for session in sessions:
        session.run(None, feeds)
    end = time.process_time() + SECONDS
    while time.process_time() < end or len(times[0]) < 5:
        for session, taken in zip(sessions, times, strict=True):
            started = time.process_time()
            session.run(None, feeds)
            taken.append(time.process_time() - started)
    first, second = map(statistics.median, times)
    return first / second


def _drawn(session: Any) -> Feeds | None:
    """Sizes as exporters name them: one sequence of 64, nothing before it."""
    generator = np.random.default_rng(0)
    sizes = {"batch": 1, "past_seq": 16, "past": 16, "total_seq": 80, "total": 80}
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
    feeds: dict[str, Any] = {}
    for each in session.get_inputs():
        if each.type not in kinds:
            return None
        shape = [size if isinstance(size, int) else sizes.get(size, 64) for size in each.shape]
        if each.type == "tensor(float)":
            feeds[each.name] = generator.normal(size=shape).astype(np.float32)
        else:
            feeds[each.name] = np.ones(shape, np.int64)
    return feeds


def report(rows: Iterable[Row], left_out: list[str]) -> Iterable[str]:
    """The page."""
    yield "# Attentions recognized"
    yield ""
    yield f"{describe('onnxruntime-gpu')}, one thread."
    yield ""
    yield (
        "Preset `cpu`; *without* is the same without " + ", ".join(f"`{p}`" for p in PASSES) + "."
    )
    yield (
        "*Left* are attentions still spelled out; one that is neither left nor recognized was "
        "computed beforehand. Heads, repeated keys and earlier keys are attentions that took along "
        "what is named."
    )
    yield ""
    yield (
        "| network | attentions | left | recognized | heads | repeated keys | earlier keys "
        "| rotary | nodes without → with | CPU time, with / without | outputs |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    reasons: list[str] = []
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        counted = " | ".join(str(row.steps[rule]) for rule in RULES)
        there, left = row.attentions
        yield (
            f"| {row.name} | {there} | {left} | {counted} | {row.nodes[0]} → {row.nodes[1]} "
            f"| {ratio} | {row.outputs} |"
        )
        reasons += [f"- {row.name}: {reason}" for reason in row.reasons]
    yield from section("Near misses:", reasons)
    yield from section("Left out:", left_out)


def main(argv: list[str] | None = None) -> int:
    """Count, compare, race and print."""
    asked = parser(__doc__)
    asked.add_argument("--no-race", action="store_true", help="measure no times")
    arguments = asked.parse_args(argv)
    paths = [path for folder in arguments.folders for path in sorted(folder.glob("*.onnx"))]
    if not paths:
        raise StudioError("There is no .onnx file in these folders.")
    models = [(path.stem, path) for path in paths]
    found, left_out = rows_of(models, lambda _, path: measured(path, race=not arguments.no_race))
    rows = [row for row in found if row.attentions[0] or any(row.steps.values())]
    publish(report(rows, left_out), arguments.write)
    return 0 if all(row.outputs == "equal" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
