"""All modules of the viewer as one.

A module costs the browser a request, an address and a look-up: seventy of them cost a quarter of a
second. Here each becomes a function that returns what the module exports, called after those it
imports. The files stay as they are, and are served one by one to whoever debugs them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

ENTRY = "main.js"
_IMPORT = re.compile(r'^import\s+(?:\{([^}]*)\}\s+from\s+)?"(\.[\w./-]+\.js)";', re.MULTILINE)
_EXPORT = re.compile(
    r"^export\s+(default\s+)?((?:async\s+)?function\*?|class|const)\s+([\w$]+)", re.MULTILINE
)
_NOTHING = re.compile(r"^export \{\};$", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


def bundle(sources: Mapping[str, str]) -> str:
    """One module that exports what `main.js` exports.

    Args:
        sources: path below the folder of assets -> text of every module, `main.js` among them.

    Raises:
        ValueError: modules import each other in a circle, or a way of importing or exporting is
            not known here.
    """
    imports = _reachable(sources)
    try:
        order = list(TopologicalSorter(imports).static_order())
    except CycleError as error:
        raise ValueError(f"modules import each other in a circle: {error.args[1]}") from error
    functions = "\n".join(_as_function(name, sources[name]) for name in order)
    return f"{functions}\n{_exports_of(sources[ENTRY])}\n"


def _reachable(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """What each module imports, of those that `main.js` needs."""
    imports: dict[str, set[str]] = {}
    ahead = [ENTRY]
    while ahead:
        name = ahead.pop()
        if name not in imports:
            imports[name] = {_target(name, found[1]) for found in _IMPORT.findall(sources[name])}
            ahead += imports[name]
    return imports


def _as_function(name: str, text: str) -> str:
    """A module as a function, called on the spot: imports become constants, exports its result."""
    exported = [f"{'default: ' if m[0] else ''}{m[2]}" for m in _EXPORT.findall(text)]
    body = _IMPORT.sub(
        lambda m: f"const {{ {_renamed(m[1])} }} = {_variable(_target(name, m[2]))};", text
    )
    body = _NOTHING.sub("", _EXPORT.sub(r"\2 \3", body))
    left = _LEFT.search(body)
    if left is not None:
        raise ValueError(f"{name}: {left.group()!r} is not understood by the bundler")
    return (
        f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"
    )


def _target(name: str, relative: str) -> str:
    """The path below the folder of assets of what a module imports."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), relative))


def _renamed(names: str | None) -> str:
    """`a, b as c` as a destructuring says it."""
    return re.sub(r"\s+as\s+", ": ", names or "").strip()


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _exports_of(entry: str) -> str:
    found = _EXPORT.findall(entry)
    lines = [f"export default {_variable(ENTRY)}.default;" for m in found if m[0]]
    lines += [f"export const {m[2]} = {_variable(ENTRY)}.{m[2]};" for m in found if not m[0]]
    return "\n".join(lines)
