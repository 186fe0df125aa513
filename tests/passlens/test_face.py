from __future__ import annotations

import doctest
import hashlib
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import passlens
from optimizer.model.writer import to_bytes
from studio.cli import main
from studio.gallery import gallery

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
MODULES = [
    "passlens",
    *(module.name for module in pkgutil.iter_modules(passlens.__path__, "passlens.")),
]


@pytest.fixture(scope="module")
def tour() -> passlens.Model:
    return passlens.open_model("tour")


@pytest.fixture(scope="module")
def trace(tour: passlens.Model) -> passlens.Trace:
    return passlens.optimize(tour)


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, passlens; print({'optimizer', 'profiling', 'studio'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


def test_optimizing_imports_neither_a_database_nor_the_web() -> None:
    code = "import sys, passlens; passlens.optimize; passlens.open_model;"
    code += "print({'sqlalchemy', 'streamlit', 'plotly', 'onnxruntime'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


def test_every_name_of_the_face_is_there_and_documented() -> None:
    assert set(passlens.__all__) <= set(dir(passlens))
    assert all(getattr(passlens, name).__doc__ for name in passlens.__all__)
    with pytest.raises(AttributeError, match="no_such_thing"):
        getattr(passlens, "no_such_thing")  # noqa: B009 - pyright knows that it is not there


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_examples_on_a_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.onnx").write_bytes(gallery.open_path("tour").read_bytes())
    examples = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, page, "exec"), {})  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    assert "eliminate-dropout" in printed
    assert "equal" in printed


def test_source_and_steps_are_those_of_the_command_line(
    trace: passlens.Trace, tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours.trace", tmp_path / "theirs.trace"
    passlens.export(trace, ours)
    main(["optimize", "tour", "-o", str(tmp_path / "o.onnx"), "--trace", str(theirs)])
    with zipfile.ZipFile(ours) as a, zipfile.ZipFile(theirs) as b:
        assert a.read("source.onnx") == b.read("source.onnx")
        assert a.namelist() == b.namelist()  # tensors are named by their hash
    again = passlens.open_trace(theirs)
    assert [rewrite.match for rewrite in again.rewrites] == [r.match for r in trace.rewrites]
    assert to_bytes(passlens.replay(trace).ir) == (tmp_path / "o.onnx").read_bytes()
    assert to_bytes(passlens.replay(again, 7).ir) == to_bytes(passlens.replay(trace, 7).ir)


def test_the_model_that_is_optimized_stays_as_it_is(tour: passlens.Model) -> None:
    before = hashlib.sha256(to_bytes(tour.ir)).digest()
    trace = passlens.optimize(tour)
    source = passlens.replay(trace, 0)
    assert hashlib.sha256(to_bytes(source.ir)).digest() == before
    assert hashlib.sha256(to_bytes(tour.ir)).digest() == before


def test_a_plan_is_that_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "mobilenetv2", "--bind", "batch=1", "--planner", "greedy-by-size", "--json"])
    peak = re.search(r'"peak_bytes": (\d+)', capsys.readouterr().out)
    model = passlens.open_model("mobilenetv2", bind={"batch": 1})
    assert peak is not None
    assert passlens.plan(model, "greedy-by-size").peak_bytes == int(peak[1])


def test_what_cannot_be_written_is_refused(
    tour: passlens.Model, trace: passlens.Trace, tmp_path: Path
) -> None:
    with pytest.raises(passlens.StudioError, match="no step 999"):
        passlens.export(trace, tmp_path / "out.onnx", step=999)
    with pytest.raises(passlens.StudioError, match="has no steps"):
        passlens.export(tour, tmp_path / "out.onnx", step=1)
    with pytest.raises(passlens.StudioError, match="would be a trace"):
        passlens.export(tour, tmp_path / "out.trace")
    assert list(tmp_path.iterdir()) == []


def test_a_trace_shows_itself_and_escapes_what_comes_from_the_model(
    trace: passlens.Trace,
) -> None:
    trace.model_name = "<script>alert(1)</script>"
    shown = trace._repr_html_()  # pyright: ignore[reportPrivateUsage] - a notebook's protocol
    assert "<script" not in shown
    assert shown.count("<rect") == trace.steps
    assert "fuse-conv-batch-norm" in shown


def test_a_race_shows_itself_with_a_row_and_a_line_for_each_variant() -> None:
    race = passlens.race({"<b>source</b>": "tour", "again": "tour"}, runs=5, seconds=0.5)
    shown = race._repr_html_()  # pyright: ignore[reportPrivateUsage] - a notebook's protocol
    assert "<b>" not in shown
    assert shown.count("the baseline") == 1
    assert shown.count("<path") == 4


def test_all_packages_say_that_they_are_typed() -> None:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found = project["tool"]["setuptools"]["packages"]["find"]["include"]
    data = project["tool"]["setuptools"]["package-data"]
    for package in (name.rstrip("*") for name in found):
        assert (ROOT / package / "py.typed").is_file()
        assert "py.typed" in data[package]
