"""What pages for contributors name is there."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from optimizer.rules.context import Context

ROOT = Path(__file__).parents[1]
PAGES = ["CONTRIBUTING.md", "SECURITY.md", "docs/writing-a-pass.md", "docs/python.md"]
PLACEHOLDERS = "<>…*"
MADE_BY_THE_READER = ("double_by_mul", "eliminate_redundant_abs", "eliminate-redundant-abs")


def blocks(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    indented = re.findall(r"^( *)```python\n(.*?)```", text, re.DOTALL | re.MULTILINE)
    return [re.sub(f"^{margin}", "", code, flags=re.MULTILINE) for margin, code in indented]


@pytest.mark.parametrize("page", PAGES)
def test_examples_import_what_there_is(page: str) -> None:
    for node in (node for code in blocks(page) for node in ast.walk(ast.parse(code))):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = importlib.import_module(node.module)
            assert [name.name for name in node.names if not hasattr(module, name.name)] == []


@pytest.mark.parametrize("page", PAGES)
def test_files_and_folders_that_are_named_exist(page: str) -> None:
    text = (ROOT / page).read_text()
    rooms = "|".join(path.name for path in ROOT.iterdir() if path.is_dir())
    named = set(re.findall(rf"`((?:{rooms})/[^`\s]+)`", text))
    real = {
        path
        for path in named
        if not any(c in path for c in PLACEHOLDERS)
        and not any(made in path for made in MADE_BY_THE_READER)
    }
    assert [path for path in sorted(real) if not (ROOT / path).exists()] == []


def test_the_questions_in_the_table_are_those_of_the_context() -> None:
    page = (ROOT / "docs/writing-a-pass.md").read_text()
    asked = set(re.findall(r"^\| `(\w+)", page, re.MULTILINE))
    assert "single_use" in asked
    assert [name for name in sorted(asked) if not hasattr(Context, name)] == []
