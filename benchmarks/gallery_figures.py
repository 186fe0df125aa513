"""Count what the stories of the sample networks tell: `python -m benchmarks.gallery_figures`.

Runs the default passes over every sample network and writes what it counted into
`studio/gallery/models.json`. A test counts again.
"""

from __future__ import annotations

import json

from optimizer.isolation import within_worker
from optimizer.model.graph import count_nodes
from optimizer.model.loader import load_path
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from studio.gallery import gallery
from studio.gallery.gallery import FILE


def count(model_id: str) -> dict[str, int]:
    """Nodes of one sample network, those that are left of it, and steps, from its trace."""
    model = complete(load_path(gallery.open_path(model_id)), isolate=within_worker)
    nodes = count_nodes(model.ir.graph)
    trace = optimize(model, Pipeline.of("portable"))
    return {"nodes": nodes, "left": count_nodes(model.ir.graph), "steps": trace.steps}


def main() -> None:
    """Count and write."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    counted = [row | count(row["id"]) for row in rows]
    FILE.write_text(json.dumps(counted, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
