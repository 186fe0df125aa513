"""Profiles: what a file may say, what is said of its typos, and what a device lacks of a graph."""

from __future__ import annotations

from pathlib import Path

import onnx_ir as ir
import pytest

from optimizer.errors import StudioError
from optimizer.hardware import lack, missing, profile_of, shipped, text_of
from optimizer.hardware.meaning import means_the_same
from tests.optimizer.graphs import opened

NAMES = "[[operators]]\nnames = "
TYPOS = [
    ('titel = "x"\neverything = true', "Line 1", "no key of the profile 'titel'; is it 'title'?"),
    (f'{NAMES}"Add"\n\n{NAMES}"Mul"\ntypes = ["flaot16"]', "Line 6", "is it 'float16'?"),
    (f'{NAMES}"Add"\n\n{NAMES}"Mul"\ntypes = ["flaot16"]', "(operators entry 2)", "no type"),
    (f'{NAMES}"""\nMul\nMatMull"""', "Line 4", "no operator 'MatMull'; is it 'MatMul'?"),
    (f'{NAMES}"com.microsoft::FusedMatMull"', "Line 2", "is it 'com.microsoft::FusedMatMul'?"),
    (f'{NAMES}"Conv"\nattributes = {{ grop = {{ most = 1 }} }}', "Line 3", "is it 'group'?"),
    (f'{NAMES}"Conv"\nattributes = {{ group = {{ most = "x" }} }}', "Line 3", "by numbers."),
    (f'{NAMES}"Conv"\nranks = [4]', "Line 3", "the smallest and the largest."),
    (f'{NAMES}"Conv"\nlayouts = ["NCWH"]', "Line 3", "no layout 'NCWH'; is it 'NCHW'?"),
    ('opset = "x"\neverything = true', "Line 1", "opset is a number, not 'x'."),
    ("opset = 99\neverything = true", "Line 1", "opset is 99; there are 1 to"),
    ('title = "x"', "Line 1", "it names no operator."),
    ("opset = 3\n[[operators\n", "line 2", "is not TOML: "),
]
GRAPH = """
<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]>
g (float[2,3,6,6] x, float[4,3,3,3] w, float[2,3] a, float[3,4] b)
    => (float[2,4,4,4] y, float[2,4] z)
{
   [first] c = Conv(x, w)
   [second] y = Conv<group = 1>(c, w2)
   z = com.microsoft.FusedMatMul(a, b)
   n = Neg(z)
}
"""


@pytest.mark.parametrize(("text", "line", "message"), TYPOS)
def test_a_typo_gets_one_sentence_with_its_line(
    text: str, line: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "my.toml"
    path.write_text(text)
    with pytest.raises(StudioError) as error:
        text_of(str(path))
    assert line in str(error.value)
    assert "profile 'my.toml'" in str(error.value).replace("Profile", "profile")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_every_shipped_profile_opens_and_says_where_it_is_known_from() -> None:
    for name in shipped():
        profile = profile_of(text_of(name))
        assert profile.title
        assert profile.source


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("half", ""),
        ("bfloat", "ONNX Runtime's CUDA provider takes Conv as it was in opset 18"),
        ("gelu", "ONNX Runtime's CUDA provider has no Gelu"),
        ("chosen", "ONNX Runtime's CUDA provider has no NonMaxSuppression"),
    ],
)
def test_the_profile_of_cuda_holds_for_the_newest_opset_its_kernels_do(
    node: str, said: str
) -> None:
    source = """<ir_version: 10, opset_import: ["" : 22]>
    g (float16[1,3,8,8] x, float16[4,3,3,3] w, bfloat16[1,3,8,8] u, bfloat16[4,3,3,3] v,
       float[1,5,4] boxes, float[1,2,5] scores) => (a, b, c, d) {
       [half] a = Conv(x, w)
       [bfloat] b = Conv(u, v)
       [gelu] c = Gelu(x)
       [chosen] d = NonMaxSuppression(boxes, scores)
    }"""
    profile = profile_of("onnxruntime-cuda")
    found = {one.name: lack(one, profile, 22) for one in opened(source).ir.graph}
    assert found[node] == said


def test_an_unknown_profile_is_answered_with_those_there_are() -> None:
    with pytest.raises(
        StudioError, match=r"no profile 'matrx', nor such a file; there are: .*matrix"
    ):
        text_of("matrx")


def test_what_a_device_lacks_is_grouped_by_operator_with_places() -> None:
    graph = opened(GRAPH.replace("w2", "w")).ir.graph
    found = missing(graph, profile_of("matrix-engine"))
    assert [(group.operator, len(group.nodes)) for group in found] == [
        ("Conv", 2),
        ("com.microsoft::FusedMatMul", 1),
    ]
    assert found[0].places == ("first", "second")
    assert str(found[0].finding()) == (
        "2 nodes Conv: Matrix engine + vector unit has no Conv: 'first', 'second'. "
        "There is no lowering for it."
    )


def test_types_ranks_and_attributes_bound_an_operator_and_any_of_its_entries_will_do() -> None:
    text = """# mine
[[operators]]
names = "Conv"
types = ["float16"]
[[operators]]
names = "Conv"
ranks = [3, 4]
attributes = { strides = { most = 2 }, auto_pad = ["NOTSET"] }
"""
    profile = profile_of(text)

    def said(attributes: str, shape: str) -> str:
        source = f"""<ir_version: 10, opset_import: ["" : 18]>
        g (float[{shape}] x, float[4,3,{shape[4:]}] w) => (y) {{ y = Conv<{attributes}>(x, w) }}"""
        return lack(opened(source).ir.graph[0], profile, 18)

    assert said("strides = [2, 2]", "2,3,6,6") == ""
    assert said('strides = [2, 3], auto_pad = "NOTSET"', "2,3,6,6") == "mine has Conv not for float"
    assert said('auto_pad = "VALID"', "2,3,6,6")
    assert said("group = 1", "2,3,6,6,6")


@pytest.mark.parametrize(
    ("node", "same"),
    [
        ("y = Relu(x)", True),
        ("y = ReduceMax(x, axes)", False),
        ("y = ReduceMax(x)", True),
        ("y = Gelu(x)", False),
        ("y = Reshape(x, axes)", True),
        ("y = Reshape<allowzero = 0>(x, axes)", True),
        ("y = Reshape<allowzero = 1>(x, axes)", False),
        ('y = Pad<mode = "wrap">(x, axes)', False),
        ('y = Pad<mode = "edge">(x, axes)', True),
        ("y, z = Split<num_outputs = 2>(x)", False),
        ("y = AveragePool<kernel_shape = [2]>(x)", True),
        ("y = AveragePool<kernel_shape = [2], ceil_mode = 1>(x)", False),
    ],
)
def test_a_node_means_the_same_in_an_older_opset_only_where_its_form_and_meaning_are_there(
    node: str, same: bool
) -> None:
    source = f"""<ir_version: 10, opset_import: ["" : 20]>
    g (float[2,4,4] x, int64[1] axes) => (y) {{ {node} }}"""
    graph: ir.Graph = opened(source).ir.graph
    assert means_the_same(graph[0], now=20, then=13) is same
