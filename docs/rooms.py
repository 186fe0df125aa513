"""Who may import whom: rooms of each package, for the design page and the test that holds them."""

from __future__ import annotations

from collections.abc import Mapping

Room = str
"""A folder or a file right below a package."""

LAYERS: Mapping[str, tuple[tuple[Room, ...], ...]] = {
    "passlens": (
        ("races",),
        ("models",),
        ("traces",),
        ("notebook", "plans"),
    ),
    "studio": (
        ("cli", "server"),
        ("first_picture",),
        ("frame",),
        ("history", "layout", "memory", "model", "passes", "rewrite"),
        ("cost", "run", "viewing"),
        ("commands", "kernels", "precision", "timeline", "transposes"),
        ("capture", "race", "schedule"),
        ("export", "variants"),
        ("page",),
        ("opening",),
        ("layouts", "services", "workspace"),
        ("experiment", "overlays", "recordings", "versus"),
        ("gallery",),
        ("artifacts", "figures"),
        ("graphview",),
        ("environment", "link", "postponed", "tasks", "turns", "viewer"),
    ),
    "profiling": (
        ("calibration",),
        ("arena", "kernels", "precision", "transposes"),
        ("fleet", "timeline", "worth"),
        ("racing", "records"),
        ("cuda", "instructions", "machine", "schedules"),
        ("execution",),
        ("tvm",),
        ("codegen",),
        ("cache", "config", "processor", "workers"),
    ),
    "optimizer": (
        ("layout_assignment", "legalisation"),
        ("declarations", "graph_cost", "pipeline_file", "rewrite"),
        ("passes", "pipeline"),
        ("fusion", "imported", "layout", "memory", "patterns", "precision"),
        ("cost", "folding", "hardware", "registry"),
        ("rules", "runtime", "source", "verify"),
        ("model", "polyhedral"),
        ("operators", "schedules"),
        ("loops",),
        ("codec", "constants", "dimension_text", "function_registry"),
        ("isolation", "stored"),
        ("dimension", "errors", "minimum_cut"),
        (
            "collection",
            "elimination",
            "findings",
            "free_sizes",
            "frozen",
            "limits",
            "numbers",
            "transposed_tensor",
            "versions",
        ),
    ),
}
"""From top to bottom; packages, too. A room imports rooms of lower lines alone, none of its own."""

EXCEPTIONS: Mapping[tuple[Room, Room], str] = {}
"""Arrows that point up and are still to be turned: from, to, and what they are there for."""

BEGIN = "<!-- Written by `make docs` from docs/rooms.py. -->"
END = "<!-- End of what is written. -->"


def rooms_table() -> str:
    """The rooms as the design page shows them."""
    lines = ["| package | rooms, each line above those it may import |", "|---|---|"]
    for package, layers in LAYERS.items():
        rows = "<br>".join(" · ".join(layer) for layer in layers)
        lines.append(f"| {package} | {rows} |")
    known = [f"* {one} imports {other}: {why}." for (one, other), why in EXCEPTIONS.items()]
    return "\n".join([*lines, *(["", "Still to be turned:", "", *known] if known else [])])


def with_rooms(page: str) -> str:
    """The design page with the table as the code has it now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{rooms_table()}\n\n{END}{after}"
