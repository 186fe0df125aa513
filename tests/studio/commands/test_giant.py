"""A model whose weights are too many for one file, by a small stand-in with holes for weights."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import onnx
import onnxruntime
import pytest

from benchmarks.giant_model import Size, write_giant
from optimizer.limits import MIB
from optimizer.model import placement
from optimizer.rewrite import trace_file
from optimizer.stored import FileStorage
from studio.cli import main

Access = Callable[[FileStorage, int, int], object]
SMALL = Size(blocks=2, hidden=512, heads=8, inner=1536, words=20_000)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the command: its status, and what it printed."""

    status: int
    said: str


@pytest.fixture
def giant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model of which the program thinks that its weights fit into no file and no memory."""
    for module in (placement, trace_file):
        monkeypatch.setattr(module, "INLINE_BYTES", MIB)
    monkeypatch.setattr("optimizer.verify.memory.available_bytes", lambda: 64 * MIB)
    folder = tmp_path / "source"
    folder.mkdir()
    return write_giant(folder / "m.onnx", SMALL)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of each access to a data file."""
    found: list[int] = []
    for name in ("read", "view"):
        real = getattr(FileStorage, name)

        def counted(self: FileStorage, start: int, count: int, real: Access = real) -> object:
            found.append(count)
            return real(self, start, count)

        monkeypatch.setattr(FileStorage, name, counted)
    return found


def optimize(capsys: pytest.CaptureFixture[str], giant: Path, out: Path, *more: object) -> Run:
    capsys.readouterr()
    status = main(["optimize", str(giant), "-o", str(out), *map(str, more)])
    return Run(status, capsys.readouterr().err)


def locations(path: Path) -> set[str]:
    tensors = onnx.load(path, load_external_data=False).graph.initializer
    return {entry.value for t in tensors for entry in t.external_data if entry.key == "location"}


def test_weights_are_neither_read_nor_written_where_no_pass_needs_them(
    giant: Path, reads: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    out = giant.with_name("out.onnx")
    trace = giant.with_name("run.trace")
    ran = optimize(capsys, giant, out, "--external", "keep", "--trace", trace)
    assert ran.status == 0
    assert 0 < sum(reads) < 4 * MIB < 50 * MIB < giant.with_name("m.onnx.data").stat().st_size
    assert out.stat().st_size + trace.stat().st_size < MIB
    assert locations(out) == {"m.onnx.data"}
    assert "stay in 'm.onnx.data', which the new model needs beside it" in ran.said
    assert "Not verified: its weights take" in ran.said
    assert "inputs and outputs are those of the source" in ran.said
    onnxruntime.InferenceSession(out, providers=["CPUExecutionProvider"])


def test_a_trace_refers_to_the_data_and_knows_it_again(
    giant: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "run.trace"
    optimize(capsys, giant, giant.with_name("out.onnx"), "--external", "keep", "--trace", trace)
    replay = ["replay", str(trace), "--step", "0", "-o", str(giant.with_name("first.onnx"))]
    assert main(replay) == 2
    assert "'m.onnx.data' is missing" in (said := capsys.readouterr().err)
    assert "with --data." in said
    assert main([*replay, "--data", str(giant.parent)]) == 0
    first = onnx.load(giant.with_name("first.onnx"), load_external_data=False)
    source = onnx.load(giant, load_external_data=False)
    assert [n.op_type for n in first.graph.node] == [n.op_type for n in source.graph.node]
    with giant.with_name("m.onnx.data").open("r+b") as data:
        data.write(b"other")
    assert main([*replay, "--data", str(giant.parent)]) == 2
    assert "is not the one that 'run.trace' was made with" in capsys.readouterr().err


def test_a_copy_elsewhere_has_its_own_data_and_the_holes_of_the_source(
    giant: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = optimize(capsys, giant, tmp_path / "out.onnx", "--external", "w.bin")
    assert ran.status == 0
    assert locations(tmp_path / "out.onnx") == {"w.bin"}
    data = tmp_path / "w.bin"
    assert b"tensor 000009." in data.read_bytes()
    if (source := giant.with_name("m.onnx.data").stat()).st_blocks * 512 < source.st_size:
        assert data.stat().st_blocks * 512 < data.stat().st_size / 4
    onnxruntime.InferenceSession(tmp_path / "out.onnx", providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--external", "keep"], "is not in the folder of"),
        (["--external", "../w.bin"], "is no file in the folder of"),
        (["--trace", "nowhere/run.trace"], "Choose a folder you may write to"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is(
    words: list[str], said: str, giant: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (away := tmp_path / "away").mkdir()
    ran = optimize(capsys, giant, away / "out.onnx", *words)
    assert (ran.status, said in ran.said) == (2, True)
    assert ran.said.count("\n") == 1
    assert not list(away.iterdir())


def cut_short(data: Path) -> None:
    os.truncate(data, 1 << 20)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (Path.unlink, "'m.onnx.data' is missing"),
        (cut_short, "The data file is cut short"),
    ],
)
def test_data_that_is_not_there_is_one_sentence_and_nothing_is_written(
    damage: Callable[[Path], None], said: str, giant: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(giant.with_name("m.onnx.data"))
    out = giant.with_name("out.onnx")
    assert main(["optimize", str(giant), "-o", str(out)]) == 2
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_room_for_a_trace_is_looked_for_before_the_model_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def left(_folder: Path) -> SimpleNamespace:
        return SimpleNamespace(f_bavail=80, f_frsize=MIB)

    source = write_giant(tmp_path / "m.onnx", SMALL)
    (away := tmp_path / "away").mkdir()
    monkeypatch.setattr("optimizer.model.new_file.os.statvfs", left)
    words = ["optimize", str(source), "-o", str(away / "out.onnx"), "--no-verify"]
    assert main([*words, "--trace", str(away / "run.trace")]) == 2
    said = capsys.readouterr().err
    assert "The model and its trace take 104 MiB, and" in said
    assert "has 80 MiB left. Free some, or write elsewhere." in said
    assert not list(away.iterdir())
    assert main(words) == 0


def test_a_disk_that_fills_while_data_is_copied_leaves_what_was_there(
    giant: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (away := tmp_path / "away").mkdir()
    (away / "out.onnx").write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 * MIB, before[1]))
    try:
        ran = optimize(capsys, giant, away / "out.onnx", "--external", "copy", "--no-verify")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (ran.status, ran.said.count("\n")) == (2, 1)
    assert "Cannot write" in ran.said
    assert "Free some, or write elsewhere." in ran.said
    assert {one.name: one.read_bytes() for one in away.iterdir()} == {"out.onnx": b"old"}


def test_what_stays_where_it_is_is_in_the_report(
    giant: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = giant.with_name("out.onnx")
    main(["optimize", str(giant), "-o", str(out), "--external", "keep", "--json", "--no-verify"])
    weights = json.loads(capsys.readouterr().out)["weights"]
    assert weights["files"] == ["m.onnx.data"]
    assert weights["referred_bytes"] > 50 * MIB > MIB > weights["inline_bytes"]
    assert weights["side_bytes"] == 0
