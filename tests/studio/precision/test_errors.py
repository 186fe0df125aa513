"""Errors of values as those of nodes: in the source and at a step, and where they begin."""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import pytest

from optimizer.model.graph import node_id, walk_nodes
from optimizer.pipeline import Pipeline
from optimizer.precision.layers import LayerErrors
from optimizer.rewrite.graph_at import trace_cursor
from optimizer.verify.budget import ErrorBudget
from optimizer.verify.comparison import Comparison, Tolerance, compare_output
from profiling.workers import default_pool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.gallery import gallery
from studio.overlays import kept_numbers, offered
from studio.precision.errors import ERRORS, LEAST_DB, keep_errors, node_errors

Subject = tuple[OpenedModel, OpenedRun]


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    store = Store(default_pool(), root=tmp_path_factory.mktemp("store"))
    model = store.open_file(gallery.open_path("tour"), name="tour")
    return model, store.run(model, Pipeline.of("default"))


@contextmanager
def nodes_at(run: OpenedRun, step: int) -> Generator[dict[str, list[str]]]:
    """Names of the values that each node makes."""
    with trace_cursor(run.files) as cursor:
        graph = cursor.seek(step).graph
        yield {node_id(n): [o.name or "" for o in n.outputs] for n in walk_nodes(graph)}


def compared(name: str, noise: float) -> Comparison:
    signal = np.linspace(-1, 1, 100, dtype=np.float32)
    held = Tolerance(budget=ErrorBudget(30, "dB"))
    return compare_output(name, signal, signal * np.float32(1 + noise), tolerance=held)


def test_nodes_of_both_graphs_have_the_errors_of_their_values(subject: Subject) -> None:
    model, run = subject
    last = run.result.steps
    with nodes_at(run, 0) as before:
        source = dict(before)
    with nodes_at(run, last) as after:
        ours = dict(after)
    both = [outs[0] for outs in source.values() if outs in ours.values()]
    exact, faint, loud = both[0], both[1], both[-1]
    # Noise of a constant share: 20 log10(1 / share) dB.
    values = (compared(exact, 0.0), compared(faint, 1e-2), compared(loud, 0.1))
    found = LayerErrors(values, (), ErrorBudget(30, "dB"), samples=2, generated=True)
    errors = node_errors(run.files, last, found)
    makers = {
        name: {i for outs in (source, ours) for i, made in outs.items() if name in made}
        for name in (exact, faint, loud)
    }
    assert set(errors.nodes) == set.union(*makers.values())
    by_name = {name: errors.nodes[next(iter(ids))] for name, ids in makers.items()}
    assert by_name[exact].sqnr_db == math.inf
    assert by_name[faint].sqnr_db == pytest.approx(40, abs=0.1)
    assert by_name[loud].relative_max == pytest.approx(0.1, abs=1e-3)
    assert "20.0 dB where 30 dB" in by_name[loud].reason
    assert set(errors.begins) == makers[loud]
    assert errors.label == f"step {last} against the source, 2 generated inputs"
    keep_errors(run, errors)
    assert "errors" in offered(model, run)
    assert [ERRORS.from_json(one) for one in kept_numbers(run, "errors")] == [errors]


def test_a_value_called_otherwise_is_found_and_one_without_signal_has_a_number(
    subject: Subject,
) -> None:
    _, run = subject
    last = run.result.steps
    with nodes_at(run, last) as nodes:
        identity, outs = next((i, outs) for i, outs in nodes.items() if outs[0])
    lost = Comparison("elsewhere", ok=False, reason="lost", scaled=3.0, sqnr_db=-math.inf)
    found = LayerErrors((lost,), (), None, samples=1, generated=False)
    errors = node_errors(run.files, last, found, matches={"elsewhere": outs[0]})
    assert errors.nodes[identity].sqnr_db == LEAST_DB
    assert errors.begins == (identity,)
    assert errors.label.endswith("1 sample")
