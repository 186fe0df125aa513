"""Names as Halide gets them, and as it writes them in the code that it makes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from optimizer.schedules.halide_source.names import plain_name

__all__ = ["as_in_c", "plain_name", "without_serials"]

_SERIAL = re.compile(r"(?<=\w)\$\d+")
_QUOTED = re.compile(r'%"([A-Za-z_][\w.]*)"')
"""LLVM quotes names that have a `$`."""
_NAMED_AGAIN = re.compile(r":[ \t]+# @")
"""Behind a function's label in assembly, as far to the right as the label is short."""
_CLOSURES = ("closure_arg", "closure_prototype", "parallel_closure", "closure_result")
"""What Halide itself names where a loop is parallel."""
_KERNELS = "(?:kernel_par_for|_kernel)"
"""Before the name of a loop whose body is a function. Where its name falls together with another
in Halide's table of those it has met, its number has one `_`, and one of its own comes last."""


def as_in_c(name: str) -> str:
    """A name as Halide writes it in C and in names of functions, there with `_` before it."""
    found = "".join("__" if c == "$" else c if c.isalnum() else "_" for c in name)
    return f"_{found}"


def without_serials(text: str, names: Iterable[str]) -> str:
    """Code without the numbers that Halide puts behind names it has met in this process before.

    Args:
        text: at any level.
        names: of Funcs and inputs, as Halide got them; halves of partial results end in a number.
    """
    found = _NAMED_AGAIN.sub(r":  # @", _QUOTED.sub(r"%\1", _SERIAL.sub("", text)))
    known = "|".join(sorted(map(re.escape, {*names, *_CLOSURES}), key=len, reverse=True))
    found = re.sub(
        rf"({_KERNELS}_(?:{known})(?:_\d+)?)_\d+(_s\d+_\w*?)(?:_\d+)?__\d+(?=\W|_param|$)",
        r"\1\2",
        found,
    )
    return re.sub(
        rf"(?<![A-Za-z0-9])((?:{known})(?:_\d+)?)__\d+(?=\W|_s\d|_buffer|$)", r"\1", found
    )
