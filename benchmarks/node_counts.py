"""Operators of a model file, counted in the same way whoever wrote it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

_COUNT = """
import json, sys
from collections import Counter
import onnx
found = Counter()
def count(nodes):
    for node in nodes:
        if node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
            found[node.op_type] += 1
        for attribute in node.attribute:
            for graph in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                count(graph.node)
model = onnx.load(sys.argv[1], load_external_data=False)
count(model.graph.node)
for function in model.functions:
    count(function.node)
print(json.dumps(found))
"""


def operators_in(model: Path) -> Counter[str]:
    """How often each operator stands in a file, which is read in a process of its own.

    Constant nodes do not count; nodes of bodies and functions do.
    """
    command = [sys.executable, "-c", _COUNT, str(model)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Counter(json.loads(done.stdout))
