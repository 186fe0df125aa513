"""Hostile names."""

from __future__ import annotations

from pathlib import Path

from onnx import helper

from tests.corpus.cases import case, model, relu_model, save, value


def renamed(folder: Path, name: str) -> None:
    """Use one hostile string as node, value, graph, producer, metadata and doc name at once."""
    proto = model(
        [
            helper.make_node("Relu", ["x"], [name], name=name, doc_string=name),
            helper.make_node("Abs", [name], ["y"]),
        ]
    )
    proto.graph.name = proto.producer_name = proto.doc_string = name
    proto.graph.input[0].doc_string = name
    helper.set_model_props(proto, {name: name})
    save(folder, proto)


@case("text", "run")
def name_script(folder: Path) -> None:
    renamed(
        folder,
        "</title></svg></script><script>document.title='PWNED'</script>"
        "<img src=x onerror=document.title='PWNED'>",
    )


@case("text", "run")
def name_attribute_break(folder: Path) -> None:
    renamed(folder, "\" onmouseover=\"document.title='PWNED'\" x='`${document.title='PWNED'}`")


@case("text", "run")
def name_graphviz(folder: Path) -> None:
    renamed(
        folder,
        'a"]; evil [label=<<b>x</b>> URL="javascript:document.title=1"]; "{|}<port>\\N\\l:n->z;',
    )


@case("text", "run")
def name_html_label(folder: Path) -> None:
    renamed(
        folder,
        '<<TABLE><TR><TD HREF="javascript:alert(1)"><IMG SRC="/etc/passwd"/></TD></TR></TABLE>>',
    )


@case("text", "run")
def name_newlines(folder: Path) -> None:
    renamed(folder, "line1\nline2\r\n\tline3\u2028line4\x0b\x1b[31mred")


@case("text", "run")
def name_markdown(folder: Path) -> None:
    renamed(
        folder,
        "[click](javascript:alert(1)) ![i](http://127.0.0.1:9/x) "
        ":red[big] $\\frac{1}{0}$ `x` | a | b |",
    )


@case("text", "run")
def name_bidi(folder: Path) -> None:
    renamed(folder, "\u202egnp.exe\u202c \u200bzero\u200dwidth \U0001f4a3 \u0391 \u0410 A e\u0301")


@case("text", "run")
def name_path(folder: Path) -> None:
    renamed(folder, "../../../../tmp/escaped\\..\\x\0y")


@case("text", "run")
def name_csv_formula(folder: Path) -> None:
    renamed(folder, '=HYPERLINK("http://127.0.0.1:9/","x"),+1,@SUM(1)')


@case("text", "run")
def name_format_string(folder: Path) -> None:
    renamed(folder, "{0.__class__.__mro__} %s%n%x ${jndi:x} {{7*7}}")


@case("text", "run")
def name_prototype(folder: Path) -> None:
    renamed(folder, "__proto__")


@case("text", "run")
def name_one_megabyte(folder: Path) -> None:
    renamed(folder, "N" * 1_000_000)


@case("text", "view")
def name_invalid_utf8(folder: Path) -> None:
    data = relu_model("QQQQ").SerializeToString()
    save(folder, data.replace(b"QQQQ", b"\xff\xfe\xc0\xaf"))


@case("text", "run")
def name_empty(folder: Path) -> None:
    renamed_nodes = [
        helper.make_node("Relu", ["x"], ["a"], name=""),
        helper.make_node("Abs", ["a"], ["y"], name=""),
    ]
    save(folder, model(renamed_nodes))


@case("text", "view")
def dim_param_script(folder: Path) -> None:
    hostile = "<img src=x onerror=document.title='PWNED'>"
    save(
        folder,
        model(
            [helper.make_node("Relu", ["x"], ["y"])],
            [value("x", (hostile, 4))],
            [value("y", (hostile, 4))],
        ),
    )


@case("text", "view")
def op_type_script(folder: Path) -> None:
    node = helper.make_node(
        "<img src=x onerror=document.title='PWNED'>", ["x"], ["y"], domain="<b>evil</b>"
    )
    save(folder, model([node], domains=["<b>evil</b>"]))
