"""Layouts for the viewer: of every value at the steps that are looked at, within a bound."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from optimizer.isolation import silent
from optimizer.model.graph import node_id, value_id, walk_nodes
from optimizer.pipeline import Pipeline
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from profiling.workers import default_pool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.gallery import gallery
from studio.layouts import (
    LAYOUTS,
    MOST_BETWEEN,
    layouts_of,
    look_at_some,
    make_layouts,
    steps_looked_at,
)
from studio.overlays import numbers_file, offered
from tests.optimizer.graphs import opened

Told = dict[str, str]


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, OpenedModel, OpenedRun]:
    store = Store(default_pool(), root=tmp_path_factory.mktemp("store"))
    model = store.open_file(gallery.open_path("tour"), name="tour")
    return store, model, store.run(model, Pipeline.of("default"))


def test_a_worker_makes_them_and_the_viewer_is_offered_them(
    subject: tuple[Store, OpenedModel, OpenedRun],
) -> None:
    store, model, run = subject
    assert "layouts" not in offered(model, run)
    store.get(LAYOUTS, (model, run), None)
    told = offered(model, run)["layouts"]
    assert offered(model, None)["layouts"] == told
    file = numbers_file(store, model.key, run.key, ("layouts", told["key"]))
    assert file is not None
    document = json.loads(gzip.decompress(file.read_bytes()))
    assert document["schema"] == "passlens.layouts/1"
    assert "NCHW" in document["steps"][0]["values"].values()


def test_what_was_told_adds_up_to_what_each_step_has(
    subject: tuple[Store, OpenedModel, OpenedRun],
) -> None:
    _, _, run = subject
    document: dict[str, Any] = make_layouts(run.files, progress=silent)
    told: dict[str, Told] = {"values": {}, "conversions": {}, "contradictions": {}}
    missed = 0
    with trace_cursor(run.files) as cursor:
        found = {step["step"]: step for step in document["steps"]}
        for step in range(run.result.steps + 1):
            graph = cursor.seek(step).graph
            there = {node_id(node) for node in walk_nodes(graph)}
            wanted = dict(zip(told, layouts_of(graph), strict=True))
            for what, texts in told.items():
                if step in found:
                    texts.update(found[step][what])
                    alive = {i: t for i, t in texts.items() if t and i.split(":")[0] in there}
                    assert alive == {i: t for i, t in wanted[what].items() if i[0] not in "io"}
            missed += sum(
                not any(value_id(output) in one["values"] for one in document["steps"])
                for node in walk_nodes(graph)
                for output in node.outputs
                if value_id(output) in wanted["values"]
            )
    assert set(found) > {0, run.result.steps}
    assert missed == 0


def test_made_in_parts_they_are_the_same(
    subject: tuple[Store, OpenedModel, OpenedRun], tmp_path: Path
) -> None:
    _, _, run = subject
    again = TraceFiles(run.files.source, Path(copy(run.files.trace, tmp_path)))
    parts = 1
    while not look_at_some(again, 0.0):
        parts += 1
    document = make_layouts(run.files, progress=silent)
    assert parts == len(document["steps"])
    assert make_layouts(again, progress=silent) == document


def test_the_steps_in_between_are_those_that_most_need_and_never_more_than_the_bound() -> None:
    assert steps_looked_at(9, []) == [0, 9]
    assert steps_looked_at(0, []) == [0]
    assert steps_looked_at(9, [(2, 5), (4, 7), (6, 8)]) == [0, 4, 6, 9]
    draw = random.Random(7)
    for _ in range(50):
        lives = [(a, a + draw.randint(1, 4)) for a in (draw.randint(1, 25) for _ in range(12))]
        chosen = steps_looked_at(30, lives)[1:-1]
        met = [any(a <= step < b for step in chosen) for a, b in lives]
        assert all(met) or len(chosen) == MOST_BETWEEN
        best = max(sum(a <= step < b for a, b in lives) for step in range(31))
        assert any(sum(a <= step < b for a, b in lives) == best for step in chosen)
    apart = [(3 * i + 1, 3 * i + 2) for i in range(40)]
    assert len(steps_looked_at(200, apart)) == MOST_BETWEEN + 2


def test_a_transpose_converts_and_a_missing_one_is_told_at_its_node() -> None:
    graph = opened(
        """<ir_version: 8, opset_import: ["" : 17]>
        main (float[1, 8, 8, 8] x, float[8, 8, 1, 1] w) => (float[1, 8, 8, 8] y) {
           a = Conv (x, w)
           b = Transpose <perm = [0, 2, 3, 1]> (a)
           y = Add (a, b)
        }"""
    ).ir.graph
    values, conversions, contradictions = layouts_of(graph)
    assert values["i0"] == "NCHW"
    assert "w0" not in values
    assert conversions == {"n1": "NCHW → NHWC"}
    assert [sentence for node, sentence in contradictions.items() if node in ("n1", "n2")]
