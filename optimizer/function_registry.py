"""Functions that enter themselves into a registry, and are found by importing their package."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from optimizer.errors import StudioError, quoted

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class RegisteredFunction(Generic[Function]):
    """One function and what is said of it.

    Attributes:
        id: kebab-case.
        title: for people.
        function: the function.
        order: in which entries are listed, the simplest first.
    """

    id: str
    title: str
    function: Function
    order: int

    @property
    def documentation(self) -> str:
        """What it does and where it comes from."""
        return inspect.cleandoc(self.function.__doc__ or "")


AnyFunction = TypeVar("AnyFunction", bound=RegisteredFunction[Any])


class FunctionRegistry(Generic[AnyFunction]):
    """The entries of one kind.

    Args:
        package: whose modules hold the functions.
        kind: of entry, for messages.
        error: raised where an id is asked for that there is not.
    """

    def __init__(self, package: str, kind: str, error: type[StudioError] = StudioError) -> None:
        self._package, self._kind, self._error = package, kind, error
        self._known: dict[str, AnyFunction] = {}

    def enter(self, entry: AnyFunction) -> None:
        """Enter a function; the same id replaces."""
        self._known[entry.id] = entry

    def entries(self) -> list[AnyFunction]:
        """Every entry, in the order in which they are listed."""
        import_all(self._package)
        return sorted(self._known.values(), key=lambda known: (known.order, known.id))

    def find(self, entry_id: str) -> AnyFunction:
        """The entry with this id.

        Raises:
            StudioError: of the registry's own kind; there is none.
        """
        known = {entry.id: entry for entry in self.entries()}
        if entry_id not in known:
            listed = ", ".join(known)
            raise self._error(f"There is no {self._kind} {quoted(entry_id)}; there are {listed}.")
        return known[entry_id]


def import_all(package: str) -> None:
    """Import every module of a package and of the packages in it."""
    path = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(path, f"{package}."):
        importlib.import_module(module.name)
