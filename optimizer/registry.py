"""The passes, each declared in one file under `optimizer/passes/` and found by importing it.

A pass is a class under `@register`, which makes it a frozen dataclass: its fields are its options.
Its folder is its family, and its docstring's headings are its page in the catalogue. `@rule` marks
the methods that look at a node.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MethodType
from typing import (
    TYPE_CHECKING,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
)

from optimizer.function_registry import import_all

if TYPE_CHECKING:  # what a pass is can be told without the graph, which takes a second to import
    import onnx_ir as ir

    from optimizer.errors import ToolError
    from optimizer.rules.context import Context
    from optimizer.rules.replacement import NewNode, Outcome

Family = Literal[
    "node", "block", "dataflow", "layout", "lowering", "precision", "structure", "kernels",
    "memory", "imported",
]  # fmt: skip
Exactness = Literal["exact", "reassociates", "lossy"]
Preset = Literal["portable", "cpu", "cuda", "generated"]
FAMILIES: tuple[Family, ...] = get_args(Family)
PRESETS: tuple[Preset, ...] = get_args(Preset)
NO_PRESET: Literal["none"] = "none"
"""In place of a preset: no pass at all."""
PORTABLE: Preset = "portable"
"""What is chosen where nobody chooses."""
_FORMER: Mapping[str, Preset] = {"default": "portable", "runtime": "cpu"}
"""Names that presets had before there was one for each target."""
LAST: frozenset[Family] = frozenset({"memory"})
"""Families whose passes run once, when all others are done: what they add, sharing takes back."""
ON_REQUEST: frozenset[Family] = frozenset(
    {"imported", "kernels", "layout", "lowering", "memory", "precision"}
)
"""Families whose passes are in no preset unless they say so."""
HEADINGS = ("What it does", "Before", "After", "When it is safe", "Numerics", "Source")
INSTALL = "pip install passlens[peers]"
"""Installs all that passes need of other projects."""
ANY = "*"
"""A rule rooted at every operator."""

RuleFunction: TypeAlias = "Callable[..., Outcome]"
Method = TypeVar("Method", bound="Callable[..., Outcome]")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and its replacement inside a pass.

    Attributes:
        name: named for the pattern, CamelCase.
        roots: operator types it may be rooted at, `ANY` for all; "domain::Op" outside ONNX's own.
        reach: how many nodes upstream of the root the pattern looks.
        match: looks at one node and answers.
    """

    name: str
    roots: tuple[str, ...]
    reach: int
    match: RuleFunction

    def of(self, owner: Pass) -> Rule:
        """A rule that a class has marked, as one of a pass of this class."""
        return Rule(self.name, self.roots, self.reach, MethodType(self.match, owner))


@dataclass(frozen=True)
class Pass:
    """What a user switches on and off. Subclasses are frozen dataclasses; fields are options.

    Attributes:
        id: kebab-case, the action.
        family: where it stands in the sidebar; the folder it is in.
        exactness: what it may do to the numbers.
        presets: the presets it belongs to: all unless it says, none in `ON_REQUEST`.
        order: passes of one family run in this order, then by id.
        last: whether it runs once, when all others are done; so do the families in `LAST`.
        needs: the package of another project that it runs; empty for none beside our own needs.
        global_analysis: whether it looks at the whole graph before it says anything of one node.
        memory_is_cache: whether what it remembers of a round only saves time: what it says of a
            node does not depend on the nodes that it was asked about before.
        marked: its rules, whose functions take the pass first.
        roots: the operator types that they are rooted at, all together.
        reach: how many nodes upstream of their root they look, at most.
    """

    id: ClassVar[str]
    family: ClassVar[Family]
    exactness: ClassVar[Exactness]
    presets: ClassVar[tuple[Preset, ...]] = PRESETS
    order: ClassVar[int] = 50
    last: ClassVar[bool] = False
    needs: ClassVar[str] = ""
    global_analysis: ClassVar[bool] = False
    memory_is_cache: ClassVar[bool] = False
    marked: ClassVar[tuple[Rule, ...]] = ()
    roots: ClassVar[frozenset[str]] = frozenset()
    reach: ClassVar[int] = 1

    def __init_subclass__(cls) -> None:
        """Take down the methods that `rule` has marked."""
        listed = (getattr(method, "_rule", None) for method in vars(cls).values())
        cls.marked = tuple(filter(None, listed)) or cls.marked
        cls.roots = frozenset(root for declared in cls.marked for root in declared.roots)
        cls.reach = max((declared.reach for declared in cls.marked), default=1)

    def rules(self) -> list[Rule]:
        """The rules, in the order in which they stand in the file."""
        return [declared.of(self) for declared in self.marked]

    @classmethod
    def missing(cls) -> str:
        """Why it cannot run here, and what to do; empty if it can."""
        if not cls.needs or importlib.util.find_spec(cls.needs) is not None:
            return ""
        return f"{cls.needs} is not installed: {INSTALL}"

    @classmethod
    def title(cls) -> str:
        """The first line of the docstring."""
        return inspect.cleandoc(cls.__doc__ or "").partition("\n")[0].rstrip(".")

    @classmethod
    def documentation(cls) -> Mapping[str, str]:
        """The docstring's sections by heading."""
        text = inspect.cleandoc(cls.__doc__ or "")
        parts = re.split(rf"^({'|'.join(HEADINGS)}):\n", text, flags=re.MULTILINE)
        return {
            heading: inspect.cleandoc(body)
            for heading, body in zip(parts[1::2], parts[2::2], strict=True)
        }

    def options(self) -> Mapping[str, object]:
        """The options and their values."""
        return dict(vars(self))


@dataclass(frozen=True, slots=True)
class Change:
    """What a pass over a whole graph wants next.

    Attributes:
        rule: what the step is called, CamelCase.
        outcome: as a rule's; or what went wrong, which ends nothing.
        root: the node it is rooted at, behind all that is matched; the graph's first by default.
        settle: told which nodes the new ones have become, once the change is in place.
    """

    rule: str
    outcome: Outcome | ToolError
    root: ir.Node | None = None
    settle: Callable[[Mapping[NewNode, ir.Node]], None] | None = None


def _nothing(_pass: GraphPass, _node: ir.Node, _context: Context) -> Outcome:
    return None


@dataclass(frozen=True)
class GraphPass(Pass):
    """A pass that looks at the graph as a whole, once in a run, in the first round."""

    marked: ClassVar[tuple[Rule, ...]] = (Rule("WholeGraph", (ANY,), 1, _nothing),)

    def changes(self, model: ir.Model, context: Context) -> Iterator[Change]:
        """One step after another; each is carried out, or not, before the next is asked for.

        Raises:
            ToolError: there will be no more.
        """
        raise NotImplementedError


def rule(*roots: str, name: str, reach: int = 1) -> Callable[[Method], Method]:
    """Mark a method of a pass as a rule rooted at these operator types."""

    def mark(method: Method) -> Method:
        method._rule = Rule(name, roots, reach, method)  # pyright: ignore[reportFunctionMemberAccess] - a mark for `Pass.rules`
        return method

    return mark


_REGISTRY: dict[str, type[Pass]] = {}
PassType = TypeVar("PassType", bound=type[Pass])


@dataclass_transform(frozen_default=True)
def register(declared: PassType) -> PassType:
    """Make a frozen dataclass of a pass, of the family its folder names, and enter it.

    Raises:
        ValueError: two passes share an id.
    """
    if "family" not in vars(declared):
        declared.family = cast("Family", declared.__module__.split(".")[-2])
    if declared.family in LAST:
        declared.last = True
    if declared.family in ON_REQUEST and "presets" not in vars(declared):
        declared.presets = ()
    if "__dataclass_fields__" not in vars(declared):
        declared = dataclass(frozen=True)(declared)
    if declared.id in _REGISTRY and _REGISTRY[declared.id].__module__ != declared.__module__:
        raise ValueError(f"pass id '{declared.id}' is used twice")
    _REGISTRY[declared.id] = declared
    return declared


def preset_named(name: str) -> Preset | Literal["none"] | None:
    """The preset of a name, also of one that it had formerly: links and traces have those."""
    present = _FORMER.get(name, name)
    return next((preset for preset in (*PRESETS, NO_PRESET) if preset == present), None)


def passes() -> list[type[Pass]]:
    """Every registered pass, in running order."""
    import_all("optimizer.passes")
    return in_order(_REGISTRY.values())


def in_order(declared: Iterable[type[Pass]]) -> list[type[Pass]]:
    """Passes as they run: by family, by `order`, by id."""
    return sorted(declared, key=lambda p: (FAMILIES.index(p.family), p.order, p.id))


def is_imported(pass_id: str) -> bool:
    """Whether a pass is another project's optimizer."""
    found = find(pass_id)
    return found is not None and found.family == "imported"


def find(pass_id: str) -> type[Pass] | None:
    """The pass with this id."""
    if pass_id not in _REGISTRY:
        import_all("optimizer.passes")
    return _REGISTRY.get(pass_id)
