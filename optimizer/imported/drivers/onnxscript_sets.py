"""Which rules of onnxscript's rewriter are asked, in which order, and what they are called.

A set is named: `default`, `ort_fusions`, `onnx_fusions`; a module of onnxscript; or a Python file
or module of one's own, whose rules are asked in the order in which it has them.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from optimizer.errors import StudioError, quoted
from optimizer.imported.drivers.onnxscript_guards import NearMatcher

_REWRITER = "onnxscript.rewriter"
_ORT = f"{_REWRITER}.ort_fusions"
_FUSION = f"{_REWRITER}.rules.fusion"
SETS: Mapping[str, Sequence[tuple[str, str]]] = {
    "default": [(_REWRITER, "_DEFAULT_REWRITE_RULES")],
    "onnx_fusions": [
        (f"{_FUSION}._layer_norm", "layer_normalization_ruleset"),
        (f"{_FUSION}._rms_normalization", "rms_normalization_ruleset"),
        (f"{_FUSION}._rotary_embedding", "rotary_embedding_rules"),
        (f"{_FUSION}._rotary_embedding", "partial_embedding_rules"),
        (f"{_FUSION}._gqa", "gqa_rules"),
    ],
    "ort_fusions": [
        (f"{_ORT}.shape_optimization", "rules"),
        (f"{_ORT}.erfgelu", "rules"),
        (f"{_ORT}.rms_normalization", "rms_normalization_ruleset"),
        (f"{_ORT}.skip_normalization", "skip_layer_normalization_ruleset"),
        (f"{_ORT}.skip_normalization", "skip_rms_normalization_ruleset"),
        (f"{_ORT}.rotary_embedding", "rotary_embedding_rules"),
        (f"{_ORT}.cos_sin_cache", "cos_sin_cache_rules"),
        (f"{_ORT}.rotary_embedding", "partial_embedding_rules"),
        (f"{_ORT}.sdpa", "sdpa_rules"),
        (f"{_ORT}.gqa", "gqa_rules"),
        (f"{_ORT}.gqa_packed_qkv", "fuse_qkv_gqa_rules"),
        (f"{_ORT}.mha", "mha_rules_with_past"),
        (f"{_ORT}.mha", "mha_rules_no_past"),
        (f"{_ORT}.mha_scale", "_mha_scale_rules"),
        (f"{_ORT}.mha_bias", "mha_bias_rules"),
        (f"{_ORT}.attention", "attention_rules"),
        (f"{_ORT}.gelu", "gelu_rules"),
        (f"{_ORT}.bias_gelu", "bias_gelu_rules"),
        (f"{_ORT}.sdpa_via_mha", "_rules"),
        (f"{_ORT}._core", "ORT_PATTERN_REWRITE_RULES"),
    ],
}
"""Rules of a set, a phase a line. Source: onnxscript 0.7, `ort_fusions/_core.py`."""
MAX_SWAPPED = 6
"""Operators of one pattern whose operands are swapped: each doubles the number of patterns."""


@dataclass(frozen=True, slots=True)
class NamedRule:
    """A rule, what it is called, how many nodes its pattern has."""

    name: str
    rule: Any
    nodes: int


@dataclass(slots=True)
class Phase:
    """Rules that are asked together until none of them fires.

    Attributes:
        by_root: by domain and operator of the pattern's first root.
        any_root: those that may be rooted at several.
        reach: nodes of the largest pattern.
    """

    rules: list[NamedRule] = field(default_factory=list[NamedRule])
    by_root: dict[object, list[NamedRule]] = field(default_factory=dict[object, "list[NamedRule]"])
    any_root: bool = False
    reach: int = 1

    def add(self, named: NamedRule) -> None:
        """One more rule, behind the others."""
        self.rules.append(named)
        self.reach = max(self.reach, named.nodes)
        root = _root(named.rule._target_pattern.output_nodes[0])
        if root is None:
            self.any_root = True
        self.by_root.setdefault(root, []).append(named)

    def asked_about(self, root: object) -> list[NamedRule]:
        """The rules that may be rooted at an operator, in order."""
        found = self.by_root.get(root, [])
        if not self.any_root:
            return found
        wanted = {id(one) for one in (*found, *self.by_root[None])}
        return [one for one in self.rules if id(one) in wanted]


def _root(node: Any) -> tuple[str, str] | None:
    """Domain and operator of a pattern's node; None where they are not exactly one each.

    Of a node whose operands are swapped, onnxscript itself does not tell.
    """
    domain, operator = (getattr(part, "value", None) for part in (node.domain, node.op))
    if isinstance(node.op, str):
        return (domain(), node.op) if domain else None
    return (domain(), operator()) if domain and operator else None


def phases_of(names: Sequence[str], *, swapped: bool) -> list[Phase]:
    """The rules of these sets, in order.

    Args:
        names: of sets, files or modules.
        swapped: whether operands of commutative operators are tried in both orders.

    Raises:
        StudioError: there is no such set, or no rule in it.
    """
    known = _exported()
    found: list[Phase] = []
    for name in names:
        for rules in _rules_of(name):
            phase = Phase()
            for label, rule in rules:
                for one in _spellings(rule) if swapped else [rule]:
                    phase.add(_named(one, label or known.get(id(rule._replacement_pattern), "")))
            found.append(phase)
    return found


def _rules_of(name: str) -> Iterator[list[tuple[str, Any]]]:
    """The phases of one set."""
    for module, attribute in SETS.get(name, ()):
        try:
            held: Any = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise StudioError(f"this version has no {quoted(f'{module}.{attribute}')}.") from error
        yield [("", rule) for rule in held]
    if name not in SETS:
        rules = [*_declared(_opened(name))]
        if not rules:
            raise StudioError(f"there is no rule in {quoted(name)}.")
        yield rules


def _opened(name: str) -> Any:
    """A module; of a file as its text is now, and not as Python's cache beside it may still be."""
    if not name.endswith(".py"):
        return import_module(name)
    file = Path(name)
    if not file.is_file():
        raise StudioError(f"there is no file {quoted(name)}.")
    module = ModuleType(f"passlens_rules_{file.stem}")
    module.__file__ = name
    exec(compile(file.read_bytes(), name, "exec"), vars(module))  # noqa: S102 - the user's own
    return module


def _declared(module: Any) -> Iterator[tuple[str, Any]]:
    """Rules, sets, lists and classes of rules that a module has, each rule once."""
    rewriter: Any = import_module(_REWRITER)
    held = cast("dict[str, Any]", vars(module))
    seen: set[int] = set()
    instantiated: set[object] = set()
    for name, one in held.items():
        several = isinstance(one, rewriter.RewriteRuleSet) or type(one) in (list, tuple)
        rules = cast("Iterable[Any]", one) if several else (one,)
        for rule in rules:
            if isinstance(rule, rewriter.RewriteRule) and id(rule) not in seen:
                seen.add(id(rule))
                owner: object = getattr(rule._condition_function, "__self__", None)
                instantiated.add(cast("object", type(owner)))
                yield ("" if several else name), rule
    for name, one in held.items():
        own = inspect.isclass(one) and one.__module__ == module.__name__
        if own and issubclass(one, rewriter.RewriteRuleClassBase) and one not in instantiated:
            yield name, cast("Any", one).rule()


def _exported() -> dict[int, str]:
    """What onnxscript calls rules that have no name of their own, by their replacement.

    With operands swapped a rule is another object, but has the same replacement.
    """
    common = vars(import_module(f"{_REWRITER}.rules.common"))
    kept = ((name, getattr(rule, "_replacement_pattern", None)) for name, rule in common.items())
    return {id(replacement): name for name, replacement in kept if replacement is not None}


def _spellings(rule: Any) -> Sequence[Any]:
    """A rule with operands swapped, as far as that remains few."""
    swaps = [node for node in rule._target_pattern if len(node.inputs) == 2]
    return rule.commute() if len(swaps) <= MAX_SWAPPED else [rule]


def _named(rule: Any, label: str) -> NamedRule:
    """A rule, called as its author does, else as it is exported, else as its pattern reads."""
    pattern = rule._target_pattern
    operators = "_".join(str(node.op) for node in pattern)
    words = re.split(r"\W|_", rule.name or label or operators)
    name = "".join(part[:1].upper() + part[1:] for part in words if part) or "Rule"
    nodes = pattern.num_nodes()
    if not pattern.has_single_output_node:
        rule = copy.copy(rule)
        rule._matcher = NearMatcher(rule._matcher, nodes)
    return NamedRule(name if name[0].isalpha() else f"Rule{name}", rule, nodes)
