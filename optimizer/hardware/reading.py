"""Hardware profiles from TOML: those that come along, and the user's own.

    title = "My device"
    opset = 17

    [[operators]]
    names = "MatMul Add com.microsoft::FusedMatMul"
    types = ["float16", "int8"]
    ranks = [2, 4]
    attributes = { axis = [-1], group = { most = 1 } }
    layouts = ["NCHW"]

Several entries with one name are several ways to have it. `everything = true` stands for all
operators of ONNX up to `opset`.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any, cast

import onnx_ir as ir
from onnx import defs

from optimizer.errors import StudioError, quoted
from optimizer.hardware.profile import Bound, HardwareProfile, Plain, Support
from optimizer.model.signatures import RUNTIME_EXTRAS, newest_opset
from optimizer.operators.catalogue import CATALOGUE

FOLDER = Path(__file__).parent / "profiles"
MOST_BYTES = 1 << 20
LAYOUTS = ("NCHW", "NHWC", "NCHWc8", "NCHWc16", "NC1HWC0")
TYPES = tuple(kind.name.lower() for kind in ir.DataType if kind != ir.DataType.UNDEFINED)
_TOP = ("title", "source", "opset", "everything", "operators")
_ENTRY = ("names", "types", "ranks", "attributes", "layouts")
_BOUND = ("least", "most")
_ALIASES = {"float32": "float", "float64": "double"}
_ANY_TYPE = "any"


def shipped() -> tuple[str, ...]:
    """Names of the profiles that come along."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def text_of(profile: str) -> str:
    """What an option that names a profile holds: a shipped one's name, else the file's text.

    A trace holds the text, so that it says what the pipeline was without the file.

    Raises:
        StudioError: there is neither a profile of this name nor such a file.
    """
    if profile in shipped():
        return profile
    path = Path(profile)
    if not path.is_file():
        known = ", ".join(shipped())
        raise StudioError(
            f"There is no profile {quoted(path)}, nor such a file; there are: {known}."
        )
    if path.stat().st_size > MOST_BYTES:
        raise StudioError(f"Profile {quoted(path.name)} is larger than 1 MiB, the limit.")
    try:
        text = f"# {path.name}\n{path.read_text()}"
    except (OSError, UnicodeDecodeError) as error:
        raise StudioError(f"Profile {quoted(path.name)} cannot be read as text: {error}.") from None
    profile_of(text)
    return text


@lru_cache(maxsize=64)
def profile_of(option: str) -> HardwareProfile:
    """The profile that an option holds: a shipped one's name, or the text of a file.

    Raises:
        StudioError: the name is unknown, or the text is not a profile: which line, and why.
    """
    if "\n" in option:
        first, _, text = option.partition("\n")
        return _Reader(first.removeprefix("# "), text).profile()
    if option not in shipped():
        known = ", ".join(shipped())
        raise StudioError(
            f"There is no profile {quoted(option)}; there are: {known}. "
            "The option holds one of these names, or the text of a file."
        )
    return _Reader(option, (FOLDER / f"{option}.toml").read_text(), ours=True).profile()


class _Reader:
    """One text on its way to a profile."""

    def __init__(self, name: str, text: str, *, ours: bool = False) -> None:
        self.name, self.text, self.ours = name, text, ours
        self.entry = 0

    def profile(self) -> HardwareProfile:
        try:
            data = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise StudioError(f"Profile {quoted(self.name)} is not TOML: {error}.") from None
        self._keys(data, _TOP, "the profile")
        opset = self._of(data, "opset", int, 0)
        if not 0 <= opset <= newest_opset():
            raise self._wrong("opset", f"opset is {opset}; there are 1 to {newest_opset()}")
        operators: dict[str, tuple[Support, ...]] = {}
        for number, entry in enumerate(self._of(data, "operators", list, []), 1):
            self.entry = number
            if not isinstance(entry, dict):
                raise self._wrong("operators", "operators are tables, written [[operators]]")
            names, support = self._support(cast("dict[str, Any]", entry))
            for name in names:
                operators[name] = (*operators.get(name, ()), support)
        everything = self._of(data, "everything", bool, False)
        if not operators and not everything:
            raise self._wrong("", "it names no operator")
        title = self._of(data, "title", str, self.name)
        source = self._of(data, "source", str, "")
        return HardwareProfile(self.name, title, source, opset, everything, operators)

    def _support(self, entry: Mapping[str, Any]) -> tuple[list[str], Support]:
        self._keys(entry, _ENTRY, "operators")
        names = self._of(entry, "names", str, "").split()
        if not names:
            raise self._wrong("names", "operators have no names")
        for name in names:
            self._known(name, _operators(), "operator")
        types = [_ALIASES.get(kind, kind) for kind in self._strings(entry, "types")]
        for kind in types:
            self._known(kind, (*TYPES, _ANY_TYPE), "type")
        layouts = self._strings(entry, "layouts")
        for layout in layouts:
            self._known(layout, LAYOUTS, "layout")
        return names, Support(
            frozenset(types) - {_ANY_TYPE},
            self._ranks(entry),
            dict(self._bounds(names, self._of(entry, "attributes", dict, {}))),
            tuple(layouts),
        )

    def _ranks(self, entry: Mapping[str, Any]) -> tuple[int, int] | None:
        ranks: list[Any] = self._of(entry, "ranks", list, [])
        if not ranks:
            return None
        if len(ranks) != 2 or not all(type(rank) is int for rank in ranks) or ranks[0] > ranks[1]:
            raise self._wrong("ranks", "ranks are two numbers, the smallest and the largest")
        return ranks[0], ranks[1]

    def _bounds(
        self, names: list[str], attributes: Mapping[str, Any]
    ) -> Iterator[tuple[str, Bound]]:
        for name, given in attributes.items():
            for operator in names:
                self._known(name, _attributes(operator) or (name,), f"attribute of {operator}")
            if isinstance(given, dict):
                limits = cast("dict[str, Any]", given)
                self._keys(limits, _BOUND, name)
                if not all(type(limit) in (int, float) for limit in limits.values()):
                    raise self._wrong(name, f"{name} is bounded by numbers")
                yield name, Bound(None, limits.get("least", -inf), limits.get("most", inf))
            elif isinstance(given, list):
                yield name, Bound(tuple(cast("list[Plain]", given)))
            else:
                raise self._wrong(name, f"{name} is a list of values, or {{ least = , most = }}")

    def _strings(self, entry: Mapping[str, Any], key: str) -> list[str]:
        found: list[Any] = self._of(entry, key, list, [])
        if not all(isinstance(one, str) for one in found):
            raise self._wrong(key, f"{key} is a list of texts")
        return found

    def _of(self, data: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
        found = data.get(key, default)
        if type(found) is not kind:
            raise self._wrong(key, f"{key} is {_KINDS[kind]}, not {quoted(str(found))}")
        return found

    def _keys(self, data: Mapping[str, Any], known: Collection[str], where: str) -> None:
        for key in data:
            self._known(key, known, f"key of {where}" if where else "key")

    def _known(self, word: str, known: Collection[str], what: str) -> None:
        domain = word.partition("::")[0] if "::" in word else ""
        if word in known or (domain and (self.ours or domain != "com.microsoft")):
            return
        close = difflib.get_close_matches(word, known, 1)
        hint = f"; is it {quoted(close[0])}" if close else ""
        raise self._wrong(word, f"there is no {what} {quoted(word)}{hint}{'?' * bool(hint)}")

    def _wrong(self, word: str, message: str) -> StudioError:
        place = f" (operators entry {self.entry})" if self.entry else ""
        stop = "" if message.endswith("?") else "."
        return StudioError(
            f"Line {self._line(word)} of profile {quoted(self.name)}{place}: {message}{stop}"
        )

    def _line(self, word: str) -> int:
        """The line of a word, from the entry that is read; that of the entry without one."""
        lines = self.text.splitlines()
        heads = [i for i, line in enumerate(lines) if line.strip() == "[[operators]]"]
        first = heads[self.entry - 1] if 0 < self.entry <= len(heads) else 0
        pattern = re.compile(rf"(?<![\w:]){re.escape(word)}(?![\w:])")
        for number, line in enumerate(lines[first:], first + 1):
            if word and pattern.search(line.partition("#")[0]):
                return number
        return first + 1


_KINDS = {
    str: "a text", int: "a number", bool: "true or false", list: "a list", dict: "a table",
}  # fmt: skip


@lru_cache(maxsize=1)
def _operators() -> frozenset[str]:
    """Every operator there is: of ONNX, of the catalogue, of the shipped profiles."""
    known = {schema.name for schema in defs.get_all_schemas() if not schema.domain}
    known |= {f"{domain}::{name}" if domain else name for domain, name in CATALOGUE}
    for name in shipped():
        data = tomllib.loads((FOLDER / f"{name}.toml").read_text())
        for entry in data.get("operators", ()):
            known.update(entry.get("names", "").split())
    return frozenset(known | RUNTIME_EXTRAS)


@lru_cache(maxsize=512)
def _attributes(operator: str) -> frozenset[str]:
    """Attributes that an operator ever had; empty for one of another domain."""
    schemas = [s for s in defs.get_all_schemas_with_history() if s.name == operator]
    return frozenset(name for s in schemas if not s.domain for name in s.attributes)
