"""Count what the stories of the sample networks tell: `python -m benchmarks.gallery_figures`.

Runs the default passes over every sample network and writes `studio/gallery/figures.json`, which
the gallery's table reads. A test counts again.
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
from studio.gallery.figures import FILE, Figures


def count(model_id: str) -> Figures:
    """The figures of one sample network, from its trace."""
    model = complete(load_path(gallery.open_path(model_id)), isolate=within_worker)
    nodes = count_nodes(model.ir.graph)
    trace = optimize(model, Pipeline.of("default"))
    return Figures(nodes=nodes, left=count_nodes(model.ir.graph), steps=trace.steps)


def main() -> None:
    """Count and write."""
    figures = {entry.id: count(entry.id).to_json() for entry in gallery.entries()}
    FILE.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
