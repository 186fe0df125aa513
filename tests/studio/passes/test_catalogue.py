"""The catalogue of passes: what is found in it, what is said of a pass, its picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET  # of our own files alone

import pytest

from optimizer.registry import Pass, find, passes
from studio.link import from_link, to_link
from studio.passes.about import before_after_html, heading_html, safety_html, spellings_html
from studio.passes.link import PassesChoice
from studio.passes.pictures import picture_of, told_of
from studio.passes.search import Wanted, found


def ids(wanted: Wanted) -> list[str]:
    return [one.id for one in found(wanted)]


def known(pass_id: str) -> type[Pass]:
    declared = find(pass_id)
    assert declared is not None
    return declared


def test_everything_is_found_in_running_order_where_nothing_is_looked_for() -> None:
    assert ids(Wanted()) == [one.id for one in passes()]


def test_a_pass_is_found_by_its_operator_and_one_named_so_comes_first() -> None:
    listed = ids(Wanted("batchnormalization"))
    assert listed[0] == "fuse-conv-batch-norm"
    assert "lower-normalization" in listed
    assert "eliminate-dropout" not in listed


def test_words_and_filters_all_have_to_fit() -> None:
    assert ids(Wanted("gelu erf", families={"block"}, preset="portable")) == ["recognize-gelu"]
    assert ids(Wanted("gelu erf", preset="portable", exactness={"exact"})) == []
    assert ids(Wanted(ids={"eliminate-dropout"})) == ["eliminate-dropout"]
    assert ids(Wanted("no such gadget")) == []


def test_all_that_a_pass_says_of_itself_is_shown_and_escaped() -> None:
    declared = known("recognize-layer-norm")
    text = heading_html(declared) + before_after_html(declared) + safety_html(declared)
    for part in ("Recognize LayerNormalization", "Ba et al. 2016", "generated", "ReduceMean"):
        assert part in text + spellings_html(declared)
    assert "The variance runs over the axes of the mean" in spellings_html(declared)
    assert "profile" in safety_html(known("lower-pooling"))
    assert "say <code>is_test</code>;" in safety_html(known("eliminate-dropout"))
    assert spellings_html(known("fold-constants")) == ""
    assert "<script" not in text


@pytest.mark.parametrize("dark", [False, True])
def test_every_pass_has_a_picture_with_marks_for_either_theme(dark: bool) -> None:
    for declared in passes():
        picture = picture_of(declared.id, dark=dark)
        assert "light-dark" not in picture
        assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314 - a file of our own
        assert any(f"pp-d-{mark}" in picture for mark in ("removed", "added", "changed"))


def test_a_picture_shows_what_goes_what_comes_and_what_stays() -> None:
    picture = picture_of("fuse-conv-batch-norm", dark=False)
    assert told_of("fuse-conv-batch-norm") == (
        "before: Conv, BatchNormalization, Relu; after: Conv, Relu"
    )
    assert picture.count('<circle class="pp-d-removed"') == 2
    assert picture.count('<circle class="pp-d-added"') == 1
    assert picture_of("no-such-pass", dark=False) == ""


@pytest.mark.parametrize(
    ("pass_id", "told"),
    [
        ("eliminate-dropout", "before: Dropout, MatMul; after: MatMul"),
        ("optimize-by-onnxruntime", "before: Conv, BatchNormalization, Relu; after: FusedConv"),
        (
            "lower-pooling",
            "before: MaxPool; after: Pad, Slice, Slice, Slice, Max, Slice, Slice, Max",
        ),
    ],
)
def test_the_picture_has_the_operators_of_the_text_above_and_below_it(
    pass_id: str, told: str
) -> None:
    assert told_of(pass_id) == told
    text = known(pass_id).documentation()
    for side, operators in zip(("Before", "After"), told.split("; "), strict=True):
        for operator in operators.partition(": ")[2].split(", "):
            assert operator in text[side]


def test_a_link_brings_the_pass_back_and_nonsense_is_passed_over() -> None:
    choice = PassesChoice("fuse-pad-conv", "pad conv")
    assert from_link(PassesChoice, to_link(choice)) == choice
    assert from_link(PassesChoice, {"pass": "../x", "find": "<b>"}) == PassesChoice()
