"""Writes the documentation that comes from the code: `python -m docs.build [--check]`.

`docs/passes/` has a page a pass, made of its docstring, its patterns and a picture of a golden
case, and an index; the pictures lie in `studio/passes/pictures`, where the studio has them, too;
`docs/options.md` is made of the fields of `RunConfig`, `docs/planners.md` of the planners'
docstrings, `docs/pictures.md` of `docs/pictures.py`, the table of rooms in `docs/design.md` of
`docs/rooms.py`, the viewer's list of overlays of the files beside it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from docs.options import options_page
from docs.overlays import OVERLAYS, overlays_module
from docs.pass_pictures import FOLDER as PASS_PICTURES
from docs.pass_pictures import pass_pictures
from docs.patterns import spellings_of
from docs.pictures import pictures_page
from docs.planners import planners_page
from docs.rooms import with_rooms
from optimizer.registry import FAMILIES, HEADINGS, Pass, passes

FOLDER = Path(__file__).parent / "passes"
OPTIONS = Path(__file__).parent / "options.md"
PLANNERS = Path(__file__).parent / "planners.md"
PICTURES = Path(__file__).parent / "pictures.md"
DESIGN = Path(__file__).parent / "design.md"
GENERATED = "<!-- Written by `make docs` from the pass's docstring. -->"


def pages() -> dict[Path, str]:
    """Every generated page and its text."""
    texts = {FOLDER / f"{declared.id}.md": _page(declared) for declared in passes()}
    texts[FOLDER / "README.md"] = _index()
    texts |= pass_pictures()
    texts[OPTIONS] = options_page()
    texts[PLANNERS] = planners_page()
    texts[PICTURES] = pictures_page()
    texts[OVERLAYS] = overlays_module()
    texts[DESIGN] = with_rooms(DESIGN.read_text())
    return texts


def stale() -> list[Path]:
    """Pages that differ from what the code says now, or that no pass stands behind any more."""
    wanted = pages()
    differing = [p for p, text in wanted.items() if not p.exists() or p.read_text() != text]
    there = [*FOLDER.glob("*.md"), *PASS_PICTURES.glob("*.svg")]
    return differing + [p for p in there if p not in wanted]


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` only say which are out of date."""
    outdated = stale()
    if "--check" in arguments:
        for path in outdated:
            print(f"out of date: {path.relative_to(FOLDER.parents[1])}; run `make docs`")
        return 1 if outdated else 0
    wanted = pages()
    for folder in (FOLDER, PASS_PICTURES):
        folder.mkdir(exist_ok=True)
    for path in outdated:
        if path in wanted:
            path.write_text(wanted[path])
        else:
            path.unlink()
    print(f"{len(wanted)} pages, {len(outdated)} written")
    return 0


def _page(declared: type[Pass]) -> str:
    sections = declared.documentation()
    presets = " and ".join(f"`{p}`" for p in declared.presets) or "none"
    lines = [
        GENERATED,
        f"# {declared.title()}",
        f"`{declared.id}` · {declared.family} level · {declared.exactness} · presets: {presets}",
        f"![What it does to one of its test cases]({_picture(declared)})",
    ]
    for heading in HEADINGS:
        body = sections.get(heading, "")
        is_picture = heading in ("Before", "After")
        lines += [f"## {heading}", f"```\n{body}\n```" if is_picture else body]
        lines += spellings_of(declared) if heading == "After" else []
    return "\n\n".join(lines) + "\n"


def _picture(declared: type[Pass]) -> str:
    return f"../../{(PASS_PICTURES / declared.id).relative_to(FOLDER.parents[1]).as_posix()}.svg"


def _index() -> str:
    lines = [GENERATED, "# Passes"]
    for family in FAMILIES:
        members = [p for p in passes() if p.family == family]
        if not members:
            continue
        rows = [f"| [{p.id}]({p.id}.md) | {p.title()} | {p.exactness} |" for p in members]
        head = "| pass | what it does | numerics |\n|---|---|---|"
        lines += [f"## {family.capitalize()}", "\n".join([head, *rows])]
    return "\n\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
