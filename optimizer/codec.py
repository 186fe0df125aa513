"""Dataclasses as JSON and back, each document with a schema tag: for files, records and routes.

A `Format` names a dataclass and its schema, also where it lies in another document; how its
fields are written follows from their types (cattrs does the work, and is imported when something
is first written or read). What JSON has no word for, infinity and "not a number", is written as
text; a field with a default may be missing, and one that this version does not know is passed over.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_args, get_origin

from optimizer.errors import StudioError, quoted

if TYPE_CHECKING:
    import cattrs

T = TypeVar("T")
Json = dict[str, Any]
"""Only what JSON itself knows."""

Upgrade = Callable[[Json], Json]
"""A document of an older schema in the present layout."""

_NAMED = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_HELD: dict[type, tuple[type, ...]] = {
    float: (float, int),
    int: (int,),
    str: (str,),
    bool: (bool,),
}
"""Which types JSON may hold where a field is declared so; a truth value is no number."""


class Format(Generic[T]):
    """How one dataclass is written, wherever it stands."""

    def __init__(
        self,
        kind: type[T],
        schema: str,
        what: str,
        *,
        names: Mapping[str, str | None] | None = None,
        derived: Mapping[str, Callable[[T], object]] | None = None,
        older: Mapping[str, Upgrade] | None = None,
    ) -> None:
        """Declare the format.

        Args:
            kind: the dataclass.
            schema: its tag, for example `passlens.race/1`.
            what: it is, in messages: "recorded race".
            names: of fields that are written under another one; None for one that is not written.
            derived: what is written besides, for other readers: plain data by name.
            older: tags of older schemas, and what brings their documents into the present layout.
        """
        self.kind, self.schema, self.what = kind, schema, what
        self._names, self._derived, self._older = names or {}, derived or {}, older or {}
        _to_learn.append(self._teach)

    def to_json(self, value: T) -> Json:
        """Plain data with the schema's tag, lossless."""
        return _converter().unstructure(value, self.kind)

    def from_json(self, document: object) -> T:
        """What was written.

        Raises:
            StudioError: the document is of another schema, or damaged; says where.
        """
        return structured(self.kind, document, self.what)

    def dumps(self, value: T) -> bytes:
        """JSON text in UTF-8; equal values, equal bytes."""
        return json.dumps(self.to_json(value), allow_nan=False, separators=(",", ":")).encode()

    def loads(self, data: bytes) -> T:
        """What `dumps` wrote.

        Raises:
            StudioError: it is no JSON, of another schema, or damaged.
        """
        try:
            document = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise _damaged(self.what, error) from error
        return self.from_json(document)

    def reads(self, document: Mapping[str, object]) -> bool:
        """Whether a document is of this schema, or of an older one of it."""
        return document.get("schema") in (self.schema, *self._older)

    def _teach(self, converter: cattrs.Converter) -> None:
        write, read = _fields(converter, self.kind, self._names)

        def tagged(value: T) -> Json:
            derived = {name: derive(value) for name, derive in self._derived.items()}
            return {"schema": self.schema, **derived, **write(value)}

        def untagged(document: object, kind: type[T]) -> T:
            return read(self._current(document), kind)

        converter.register_unstructure_hook(self.kind, tagged)
        converter.register_structure_hook(self.kind, untagged)

    def _current(self, document: object) -> Json:
        plain = cast("Json", document) if isinstance(document, dict) else {}
        tag = str(plain.get("schema"))
        if tag == self.schema:
            return plain
        if tag not in self._older:
            raise StudioError(f"This is no {self.what}: its schema is not {self.schema}.")
        return self._older[tag](plain)


def structured(kind: type[T], document: object, what: str) -> T:
    """What plain data says, where it has no schema of its own.

    Raises:
        StudioError: it is damaged; says where.
    """
    try:
        return _converter().structure(document, kind)
    except StudioError:
        raise
    except Exception as error:
        raise _damaged(what, error) from error


def _damaged(what: str, error: Exception) -> StudioError:
    from cattrs import transform_error

    reason = transform_error(error, format_exception=_reason)[0]
    return StudioError(f"This {what} is damaged: {quoted(reason, limit=160)}.")


def written_as(
    kind: type[T], to_json: Callable[[T], object], from_json: Callable[[Any], T]
) -> None:
    """Say how a class is written wherever it stands, where its fields do not say it."""

    def learn(converter: cattrs.Converter) -> None:
        converter.register_unstructure_hook(kind, to_json)
        converter.register_structure_hook(kind, lambda document, _: from_json(document))

    _to_learn.append(learn)


def renamed(kind: type[object], **names: str | None) -> None:
    """Write fields of a dataclass under other names, or not at all where the name is None."""

    def learn(converter: cattrs.Converter) -> None:
        write, read = _fields(converter, kind, names)
        converter.register_unstructure_hook(kind, write)
        converter.register_structure_hook(kind, read)

    _to_learn.append(learn)


def one_of(union: Any, tag: str) -> None:
    """Write dataclasses of a union with what tells them apart: `drop_it` for DropIt."""

    def learn(converter: cattrs.Converter) -> None:
        readers: dict[str, tuple[Any, type]] = {}

        def teach(kind: type) -> None:
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
            write, read = _fields(converter, kind, {})
            readers[name] = read, kind
            converter.register_unstructure_hook(kind, lambda value: {tag: name, **write(value)})

        def read_one(document: Json, _: object) -> object:
            read, kind = readers[document[tag]]
            return read(document, kind)

        for kind in get_args(union):
            teach(kind)
        converter.register_structure_hook(union, read_one)

    _to_learn.append(learn)


def _fields(
    converter: cattrs.Converter, kind: type, names: Mapping[str, str | None]
) -> tuple[Any, Any]:
    """What writes and what reads the fields of a dataclass, some under other names."""
    from cattrs import gen

    make: Any = gen  # its generics do not tell what a class that is only known here gives
    others: Any = {
        name: gen.override(rename=other, omit=True if other is None else None)
        for name, other in names.items()
    }
    write = make.make_dict_unstructure_fn(kind, converter, **others)
    return write, make.make_dict_structure_fn(kind, converter, **others)


_to_learn: list[Callable[[cattrs.Converter], None]] = []
"""What the converter is taught when it is first needed: `cattrs` is not imported before."""


def _converter() -> cattrs.Converter:
    converter = _untaught()
    while _to_learn:
        _to_learn.pop(0)(converter)
    return converter


@functools.cache
def _untaught() -> cattrs.Converter:
    import cattrs
    from cattrs.strategies import configure_union_passthrough

    converter = cattrs.Converter(unstruct_collection_overrides={tuple: list})
    configure_union_passthrough(bool | int | str, converter)
    for kind in _HELD:
        converter.register_structure_hook(kind, _checked)
    converter.register_unstructure_hook(float, _named)
    converter.register_structure_hook_func(_is_row, _row)
    converter.register_structure_hook_factory(dataclasses.is_dataclass, _object)
    converter.register_unstructure_hook_func(_is_row, _row_written)
    return converter


def _object(kind: type, converter: cattrs.Converter) -> Callable[[object, object], object]:
    """What reads a dataclass from a JSON object, and from nothing else."""
    _, read = _fields(converter, kind, {})

    def checked(document: object, _: object) -> object:
        if not isinstance(document, dict):
            raise TypeError("expected object")
        return read(document, kind)

    return checked


def _reason(error: BaseException, kind: type | None) -> str:
    from cattrs.v import format_exception

    return error.message if isinstance(error, StudioError) else format_exception(error, kind)


def _checked(value: Any, kind: type) -> Any:
    if type(value) in _HELD[kind]:
        return value
    if kind is float and value in _NAMED:
        return _NAMED[value]
    raise TypeError(f"expected {kind.__name__}")


def _named(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _is_row(kind: Any) -> bool:
    """Whether it is `tuple[float, ...]` or one of its like, which are long and checked at once."""
    arguments = get_args(kind)
    return get_origin(kind) is tuple and arguments[1:] == (...,) and arguments[0] in _HELD


def _row(values: Any, kind: Any) -> tuple[Any, ...]:
    item = get_args(kind)[0]
    if not isinstance(values, list | tuple):
        raise TypeError("expected list")
    found = tuple(cast("Iterable[Any]", values))
    if set(map(type, found)) <= set(_HELD[item]):
        return found
    return tuple(_checked(value, item) for value in found)


def _row_written(values: Iterable[Any]) -> list[Any]:
    return [_named(value) if type(value) is float else value for value in values]
