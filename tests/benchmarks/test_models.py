from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from benchmarks.arena import row
from benchmarks.models import complete_with, files, sizes_of
from benchmarks.report import publish, rows_of, section
from optimizer.errors import StudioError
from optimizer.memory.lifetimes import lifetimes
from optimizer.model.graph import Model
from optimizer.model.loader import load_bytes
from tests.optimizer.graphs import parsed

PAST_AND_NEW = """<ir_version: 9, opset_import: ["" : 18]>
g (float[batch,past] p, float[batch,seq] x, float[batch,total_seq] mask) => (float[batch,all] y) {
  [both] b = Concat<axis = 1>(p, x)
  [exp] e = Exp(b)
  [add] a = Add(e, mask)
  [tanh] y = Tanh(a)
}"""
NO_TOTAL = PAST_AND_NEW.replace("batch,total_seq", "batch,1")


def model(text: str) -> Model:
    return load_bytes(parsed(text).SerializeToString(), name="test")


def test_batches_are_one_and_totals_hold_past_and_new() -> None:
    sizes = sizes_of(model(PAST_AND_NEW))
    assert sizes == {"batch": 1, "past": 64, "seq": 64, "total_seq": 128}


def test_dimensions_become_numbers_only_where_names_leave_sizes_open() -> None:
    for text, bound in ((PAST_AND_NEW, True), (NO_TOTAL, False)):
        given = model(text)
        sizes = sizes_of(given)
        completed, was_bound = complete_with(given, sizes)
        assert was_bound is bound
        assert not lifetimes(completed.ir.graph, sizes=sizes).unknown
        first = completed.ir.graph.inputs[0].shape or ()
        assert any(not isinstance(size, int) for size in first) is not bound


def test_a_model_whose_dimensions_were_bound_is_called_so_and_modelled_to_the_byte() -> None:
    found = row("kept", model(PAST_AND_NEW))
    assert found.name == "kept, bound"
    assert all(block.equal and block.same_order for block in found.blocks)


LIKE = """<ir_version: 9, opset_import: ["" : 18]>
g (float[8] x, int32[8] k) => (float[8] y) {
  [first] a = CastLike(x, k)
  [second] b = CastLike(k, x)
  [abs] c = Abs(a)
  [third] d = CastLike(c, x)
  [add] e = Add(d, b)
  [tanh] y = Tanh(e)
}"""


def test_casts_that_the_runtime_names_itself_are_in_the_modelled_order() -> None:
    found = row("like", model(LIKE))
    assert all(block.equal and block.same_order for block in found.blocks)


def test_files_of_a_folder_follow_the_gallery(tmp_path: Path) -> None:
    onnx.save(parsed(LIKE), tmp_path / "mine.onnx")
    found = list(files([tmp_path]))
    assert found[-1] == ("mine", tmp_path / "mine.onnx")
    assert all(name.startswith("gallery ") for name, _ in found[:-1])


def test_a_report_lists_models_without_a_row_with_the_reason() -> None:
    def make(name: str, size: int) -> str:
        if size > 1:
            raise StudioError("It is too large.")
        return f"{name} {size}"

    rows, left_out = rows_of([("small", 1), ("large", 2)], make)
    assert rows == ["small 1"]
    assert left_out == ["- large: It is too large."]
    assert list(section("Left out:", left_out)) == ["", "Left out:", "", *left_out]
    assert not list(section("Left out:", []))


def test_what_is_printed_is_what_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(["| one |", "|---|"], tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text() == capsys.readouterr().out == "| one |\n|---|\n"
