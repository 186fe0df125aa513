"""The page of run-time options, made of the fields of `RunConfig` and the rules between them."""

from __future__ import annotations

from collections.abc import Mapping

from profiling.config import Group, Option, options
from profiling.config.contradictions import RULES
from profiling.config.option import SEPARATOR
from profiling.config.question import QUESTIONS, SETTLED, STARTS

_SETTLED = " and ".join(f"`{name}`" for name in sorted(SETTLED))
_INTRODUCTION = f"""<!-- Written by `make docs` from the fields of `RunConfig`. -->

# Run-time options

Every option of a run: in the form of the *Run* page, and for `passlens bench` as
`--set OPTION=VALUE` and `--vary OPTION=V1,V2`. An option that is not set has the default below, the
runtime's own except that threads do not spin, so that one variant does not disturb another.
{_SETTLED} have no default of their own: they are as the
[question](measuring.md#two-questions) says, deployed first, then bare.

An unknown option, an impossible value and a contradiction are refused before anything runs; the
runtime would pass over most of them in silence. Items of a list are separated by `{SEPARATOR}`."""

_TITLES: Mapping[Group, tuple[str, str]] = {
    "session": ("Session", "Rewrites of the graph, threads and memory."),
    "cpu": ("CPU", "Kernels and memory of the CPU."),
    "cuda": ("CUDA", "They count on an NVIDIA GPU only: `device=cuda`, or what TensorRT leaves."),
    "tensorrt": ("TensorRT", "They count with `device=tensorrt` only, which needs TensorRT 10."),
}
_MANY = 10
_HEAD = (
    "| option | in the form | values | default | what it does | constraint | the runtime's name |\n"
    "|---|---|---|---|---|---|---|"
)


def options_page() -> str:
    """Markdown, a table a group."""
    parts = [_INTRODUCTION]
    for group, (title, text) in _TITLES.items():
        rows = [_row(option) for option in options() if option.group == group]
        parts += [f"## {title}", text, "\n".join([_HEAD, *rows])]
        parts += [_names(o) for o in options() if o.group == group and len(o.known) >= _MANY]
    return "\n\n".join(parts) + "\n"


def _row(option: Option) -> str:
    cells = [
        f"`{option.name}`",
        option.title,
        _values(option),
        _default(option),
        option.doc,
        " ".join(rule.sentence for rule in RULES if option.name in rule.about),
        "<br>".join(f"`{key}`" for key in option.keys),
    ]
    return f"| {' | '.join(cells)} |"


def _default(option: Option) -> str:
    if option.name in SETTLED:
        return ", ".join(f"`{STARTS[question][option.name]}` {question}" for question in QUESTIONS)
    default = _text(option.default)
    return f"`{default}`" if default else "empty"


def _names(option: Option) -> str:
    listed = ", ".join(f"`{name}`" for name in option.known)
    return f"Names for `{option.name}`: {listed}."


def _values(option: Option) -> str:
    if option.choices:
        return ", ".join(f"`{choice}`" for choice in option.choices)
    if 0 < len(option.known) < _MANY:
        return "a list of " + ", ".join(f"`{name}`" for name in option.known)
    if option.type is int:
        return f"{option.low} to {option.high}"
    return "`true`, `false`" if option.type is bool else "a list"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
