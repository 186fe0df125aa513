from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FORBIDDEN = {
    "optimizer": {"passlens", "profiling", "studio", "streamlit", "plotly", "app"},
    "profiling": {"passlens", "studio", "streamlit", "plotly", "app"},
    "studio": {"passlens"},
}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("package", sorted(FORBIDDEN))
def test_imports_point_only_where_the_design_allows(package: str) -> None:
    files = list((ROOT / package).rglob("*.py"))
    assert files
    wrong = {
        str(path.relative_to(ROOT)): sorted(imported(path) & FORBIDDEN[package])
        for path in files
        if imported(path) & FORBIDDEN[package]
    }
    assert wrong == {}


def test_protobufs_are_not_touched_by_what_people_see() -> None:
    users = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "studio").rglob("*.py")
        if "ModelProto" in path.read_text() or "GraphProto" in path.read_text()
    ]
    assert users == ["studio/gallery/tour.py"] or users == []


def test_generated_pages_are_up_to_date() -> None:
    from docs.build import stale

    assert [path.name for path in stale()] == []
