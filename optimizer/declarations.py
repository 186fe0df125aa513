"""What the passes say of themselves, read from their files without running them.

Importing the passes takes the graph library and with it most of a second. A list of passes needs
only class attributes, docstrings and defaults, which are literals.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optimizer.passes
from optimizer.registry import ON_REQUEST, Pass, in_order, passes


def declarations() -> list[type[Pass]]:
    """Every registered pass, in running order, as a class that has no rules.

    Where a declaration is more than literals, the passes are imported after all.
    """
    try:
        return in_order(itertools.starmap(_declared, _registered()))
    except ValueError:  # of `ast.literal_eval`
        return passes()


def _registered() -> Iterator[tuple[str, ast.ClassDef]]:
    """The classes that stand under `@register`, each with its folder."""
    for folder in optimizer.passes.__path__:
        for path in sorted(Path(folder).rglob("*.py")):
            for node in ast.parse(path.read_bytes()).body:
                if not isinstance(node, ast.ClassDef):
                    continue
                if "register" in map(ast.unparse, node.decorator_list):
                    yield path.parent.name, node


def _declared(folder: str, found: ast.ClassDef) -> type[Pass]:
    """The class with its attributes and options.

    Raises:
        ValueError: a value is no literal.
    """
    attributes: dict[str, Any] = {"presets": ()} if folder in ON_REQUEST else {}
    attributes |= {"__doc__": ast.get_docstring(found, clean=False), "family": folder}
    options: list[tuple[str, Any, Any]] = []
    for statement in found.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                attributes[name] = ast.literal_eval(value)
            case ast.AnnAssign(
                target=ast.Name(id=name), annotation=kind, value=ast.expr() as value
            ):
                default = dataclasses.field(default=ast.literal_eval(value))
                options.append((name, ast.unparse(kind), default))
            case _:
                pass
    return dataclasses.make_dataclass(
        found.name, options, bases=(Pass,), namespace=attributes, frozen=True
    )
