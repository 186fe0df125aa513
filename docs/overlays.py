"""The viewer's list of overlays, `assets/overlays/registry.js`: made of the files beside it."""

from __future__ import annotations

import re
from pathlib import Path

OVERLAYS = Path(__file__).parents[1] / "studio/viewer/assets/overlays/registry.js"
_KIND = re.compile(r"^/\*\* @type \{OverlayKind\} \*/\nexport const (\w+) = ", re.MULTILINE)


def overlays_module(folder: Path = OVERLAYS.parent) -> str:
    """A module that imports what every file of the folder exports as an `OverlayKind`."""
    found = {
        name: path.name
        for path in sorted(folder.glob("*.js"))
        for name in _KIND.findall(path.read_text())
    }
    imports = [f'import {{ {name} }} from "./{file}";' for name, file in found.items()]
    return "\n".join(
        [
            "// @ts-check",
            "// All overlays there are. Written by `make docs` from the files of this folder.",
            "",
            *imports,
            "",
            "/** @type {OverlayKind[]} */",
            f"export const OVERLAYS = [{', '.join(found)}];",
            "",
        ]
    )
