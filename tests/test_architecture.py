"""Who imports whom, held to the table that the design page prints."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from docs.rooms import EXCEPTIONS, LAYERS

ROOT = Path(__file__).parents[1]
PACKAGES = tuple(LAYERS)
SCREENS = {"streamlit", "plotly", "app"}
TOP = {
    ".ci", ".dockerignore", ".github", ".gitignore", ".pre-commit-config.yaml", ".streamlit",
    "CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile", "LICENSE", "Makefile", "README.md",
    "SECURITY.md", "app.py", "compose.yaml", "constraints.txt", "pyproject.toml",
    "benchmarks", "docs", "optimizer", "passlens", "profiling", "studio", "tests",
}  # fmt: skip
"""All files and folders at the top: what a run has left there is committed unseen otherwise."""
Arrow = tuple[str, str]


@cache
def modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
    }


@cache
def names_imported(path: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            files = inside & modules().keys()
            names |= files | ({node.module} if files != inside else set())
    return frozenset(names)


@cache
def arrows() -> frozenset[Arrow]:
    return frozenset(
        (module, other)
        for module, path in modules().items()
        for other in names_imported(path) & modules().keys() - {module}
    )


def place_of(module: str) -> tuple[int, int]:
    package, _, rest = module.partition(".")
    room = rest.partition(".")[0]
    layers = LAYERS[package]
    line = next((n for n, layer in enumerate(layers) if room in layer), len(layers))
    return PACKAGES.index(package), line


def room_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def circle(found: Iterable[Arrow]) -> list[str]:
    graph: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in found:
        graph[one].add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_the_table_names_every_room_there_is() -> None:
    there = {room_of(module) for module in modules() if "." in module}
    told = {f"{p}.{room}" for p, layers in LAYERS.items() for layer in layers for room in layer}
    assert there == told


def test_a_room_imports_rooms_of_lower_lines_alone_but_for_the_exceptions_that_are_told() -> None:
    wrong = {
        (one, other)
        for one, other in arrows()
        if "." in one and room_of(one) != room_of(other) and place_of(one) >= place_of(other)
    }
    assert {w for w in wrong if (room_of(w[0]), room_of(w[1])) not in EXCEPTIONS} == set()
    needed = {(room_of(one), room_of(other)) for one, other in wrong}
    assert EXCEPTIONS.keys() - needed == set(), "an exception that nothing needs"


def test_files_import_each_other_in_no_circle() -> None:
    assert circle(arrows()) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_what_lies_in_a_folder_is_in_no_circle(package: str) -> None:
    for path in sorted((ROOT / package).rglob("__init__.py")):
        folder = ".".join(path.parent.relative_to(ROOT).parts)
        parts = folder.count(".") + 2
        inside = {
            (".".join(one.split(".")[:parts]), ".".join(other.split(".")[:parts]))
            for one, other in arrows()
            if one.startswith(f"{folder}.") and other.startswith(f"{folder}.")
        }
        found = {(one, other) for one, other in inside if one != other}
        assert circle(found - EXCEPTIONS.keys()) == [], folder


@pytest.mark.parametrize("package", ["optimizer", "profiling"])
def test_what_draws_is_imported_by_the_studio_alone(package: str) -> None:
    users = {
        module: sorted(wrong)
        for module, path in modules().items()
        if module.partition(".")[0] == package
        and (wrong := {n.partition(".")[0] for n in names_imported(path)} & SCREENS)
    }
    assert users == {}


def test_protobufs_are_not_touched_by_what_people_see() -> None:
    users = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "studio").rglob("*.py")
        if "ModelProto" in path.read_text() or "GraphProto" in path.read_text()
    ]
    assert users == []


def test_nothing_unknown_is_kept_at_the_top_of_the_repository() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("no repository, or no Git to ask")
    asked = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if asked.returncode:
        pytest.skip("Git does not answer: the repository is somebody else's")
    kept = [name for name in asked.stdout.decode().split("\0") if name]
    assert {name.partition("/")[0] for name in kept} == TOP


def test_generated_pages_are_up_to_date() -> None:
    from docs.build import stale

    assert [path.name for path in stale()] == []
