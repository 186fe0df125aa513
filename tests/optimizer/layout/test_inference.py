"""Layouts follow from the operators that ask for one, forwards and backwards."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from optimizer.layout.inference import LayoutContradiction, Layouts, infer_layouts
from tests.optimizer.graphs import opened

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def inferred(body: str) -> Layouts:
    return infer_layouts(opened(HEAD + body).ir.graph)


def named(layouts: Layouts) -> Mapping[str, str]:
    return {value.name or "": text for value, text in layouts.of.items()}


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        pytest.param(
            """main (float[2, 8, 9, 7] x, float[4, 8, 3, 3] w) => (float[N, M, H, W] y) {
               a = Relu (x)
               b = Conv <pads = [1, 1, 1, 1]> (a, w)
               y = Neg (b)
            }""",
            {"x": "NCHW", "a": "NCHW", "b": "NCHW", "y": "NCHW", "w": "OIHW"},
            id="around a convolution, both ways",
        ),
        pytest.param(
            """main (float[2, 9, 7, 8] x, float[4, 8, 3, 3] w) => (float[2, 4, 49] y) {
               a = Transpose <perm = [0, 3, 1, 2]> (x)
               b = Conv <pads = [0, 1, 0, 1]> (a, w)
               shape = Constant <value_ints = [2, 4, 49]> ()
               y = Reshape (b, shape)
            }""",
            {"x": "NHWC", "b": "NCHW", "y": "NC(HW)"},
            id="written with channels last, and as a row of places",
        ),
        pytest.param(
            """main (float[1, 64, 9, 7] x) => (float[1, 64, 9, 7] y) {
               p = MaxPool <kernel_shape = [1, 1]> (x)
               s = Constant <value_ints = [1, 4, 16, 9, 7]> ()
               a = Reshape (p, s)
               b = Transpose <perm = [0, 1, 3, 4, 2]> (a)
               c = Relu (b)
               d = Transpose <perm = [0, 1, 4, 2, 3]> (c)
               t = Constant <value_ints = [1, 64, 9, 7]> ()
               y = Reshape (d, t)
            }""",
            {"a": "NC1C0HW", "b": "NC1HWC0", "c": "NC1HWC0", "y": "NCHW"},
            id="blocked, and back",
        ),
        pytest.param(
            """main (float[1, 24, 9, 7] x) => (float[1, 3, 9, 7, 8] y) {
               p = MaxPool <kernel_shape = [1, 1]> (x)
               s = Constant <value_ints = [1, 3, 8, 9, 7]> ()
               a = Reshape (p, s)
               y = Transpose <perm = [0, 1, 3, 4, 2]> (a)
            }""",
            {"x": "NCHW", "y": "NCHWc8"},
            id="blocks of eight, as processors have them",
        ),
        pytest.param(
            """main (float[1, 16, 14, 14] x) => (float[4, 49, 16] y) {
               p = MaxPool <kernel_shape = [1, 1]> (x)
               q = Transpose <perm = [0, 2, 3, 1]> (p)
               s = Constant <value_ints = [1, 2, 7, 2, 7, 16]> ()
               a = Reshape (q, s)
               b = Transpose <perm = [0, 1, 3, 2, 4, 5]> (a)
               t = Constant <value_ints = [4, 49, 16]> ()
               y = Reshape (b, t)
            }""",
            {"a": "NH1H0W1W0C", "b": "NH1W1H0W0C", "y": "(H1W1)(H0W0)C"},
            id="windows of an image",
        ),
        pytest.param(
            """main (float[1, 8, 4, 4] x, float[1, 1, 8] first) => (float[1, 17, 8] y) {
               p = MaxPool <kernel_shape = [1, 1]> (x)
               s = Constant <value_ints = [1, 8, 16]> ()
               a = Reshape (p, s)
               b = Transpose <perm = [0, 2, 1]> (a)
               y = Concat <axis = 1> (first, b)
            }""",
            {"b": "N(HW)C", "y": "N(HW)C"},
            id="places and one more",
        ),
        pytest.param(
            "main (float[2, 3] x) => (float[2, 3] y) { y = Relu (x) }", {}, id="nobody asks"
        ),
    ],
)
def test_values_have_the_layout_that_a_person_finds(body: str, wanted: Mapping[str, str]) -> None:
    found = inferred(body)
    assert {name: named(found).get(name) for name in wanted} == wanted
    assert bool(found.of) == bool(wanted)
    assert not found.contradictions


def test_channels_that_meet_places_are_a_contradiction_with_its_place() -> None:
    found = inferred(
        """main (float[1, 8, 8, 8] x, float[8, 8, 1, 1] w) => (float[1, 8, 8, 8] y) {
           a = Conv (x, w)
           b = Transpose <perm = [0, 2, 3, 1]> (a)
           y = Add (a, b)
        }"""
    )
    assert found.contradictions
    where: LayoutContradiction = found.contradictions[0]
    assert where.node.op_type in ("Add", "Transpose")
    assert "C" in where.meant
    finding = where.finding
    assert finding.severity == "warning"
    assert where.node.op_type in finding.where
    assert "Transpose" in finding.remedy


def test_a_pool_over_merged_places_contradicts_nothing() -> None:
    found = inferred(
        """main (float[1, 8, 4, 4] x, float[8, 8, 1, 1] w) => (float[1, 8, 1] y) {
           a = Conv (x, w)
           s = Constant <value_ints = [1, 8, 16]> ()
           b = Reshape (a, s)
           y = GlobalAveragePool (b)
        }"""
    )
    assert not found.contradictions
    assert named(found)["b"] == "NC(HW)"
