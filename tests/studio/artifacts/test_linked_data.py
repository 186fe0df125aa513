"""Large data files are not copied into the store, and noticed once they have changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from benchmarks.giant_model import Size, write_giant
from optimizer.errors import StudioError
from optimizer.isolation import silent
from optimizer.limits import MIB
from optimizer.model.loader import load_path
from optimizer.pipeline import Pipeline
from studio.artifacts import jobs
from studio.artifacts.opened import SOURCE
from studio.artifacts.store import Store

SMALL = Size(blocks=1, hidden=256, heads=4, inner=512, words=8000)


def here(function: Callable[..., Any], *args: object, **options: object) -> Any:
    del options
    told = {"progress": silent} if "progress" in signature(function).parameters else {}
    return function(*args, **told)


def test_a_giant_model_is_opened_by_path_without_a_copy_of_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LINKED_BYTES", MIB)
    path = write_giant(tmp_path / "m.onnx", SMALL)
    data = tmp_path / "m.onnx.data"
    store = Store(here, root=tmp_path / "store")
    model = store.open_file(path, name="m.onnx")
    links = [one for one in model.folder.iterdir() if one.is_symlink()]
    assert [link.resolve() for link in links] == [data.resolve()]
    run = store.run(model, Pipeline.of("default"))
    assert run.result.steps > 1
    step = load_path(store.materialize(model, run, 2), follow_links=True)
    weight = step.ir.graph.initializers["embed.weight"].const_value
    assert weight is not None
    assert weight.tobytes().startswith(b"tensor 000005.")
    os.utime(data, ns=(0, 0))
    with pytest.raises(StudioError, match=r"m\.onnx\.data' has changed since the model was opened"):
        load_path(model.folder / SOURCE, follow_links=True)
    data.unlink()
    gone = load_path(model.folder / SOURCE, follow_links=True)
    assert "m.onnx.data' is gone" in gone.statuses.optimizable.reason
