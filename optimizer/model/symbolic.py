"""What is certain about every value of a graph: type, shape, and the contents of small integers.

`SymbolicValues` follows the graph forward, node by node, with sizes as expressions over the
dimensions of the graph's inputs. It never guesses: whatever a rule does not know is a size of its
own (a fresh symbol, equal only to itself), and a contradiction between what a model declares and
what it computes is reported and treated as unknown. What a node declares of its outputs is the
exporter's claim: a size that values decide at run time is never taken from it, nor is a number
where the inputs of a node vary. What it knows about a value stays true under
every rewrite that keeps the value's meaning, so answers are kept until `forget`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.dimension import Dimension, Expression, symbol
from optimizer.dimension_text import parse
from optimizer.model.graph import bodies, walk_nodes
from optimizer.model.graph_dims import (
    declared_dim,
    interface_symbols,
    is_large,
    is_representable,
    is_whole,
    written_dim,
)
from optimizer.model.refinement import Refinement
from optimizer.operators.broadcasting import agreed_type
from optimizer.operators.call import (
    FRESH,
    INTEGERS,
    UNKNOWN,
    UNNAMED,
    Call,
    Content,
    Contradiction,
    Dim,
    Fact,
    Shape,
    Typed,
)
from optimizer.operators.catalogue import decided_by_values, operator_of
from optimizer.operators.contents import fitted, tensor_content
from optimizer.operators.layouts import LAYOUTS

_MOST_DIMENSIONS = 64
_NOT_ALLOWED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Raised by rules over attributes and inputs that the operator's specification does not allow."""


class SymbolicValues:
    """Answers about the values of one model, computed on demand and remembered.

    Attributes:
        contradictions: what cannot be, by value: text for people.
        opset: the version of ONNX's operators whose rules are followed.
    """

    def __init__(
        self,
        model: ir.Model,
        *,
        slices_fit: bool = True,
        given: Mapping[ir.Value, Fact] = MappingProxyType({}),
    ) -> None:
        """Make a table for `model`.

        Args:
            model: its inputs' shapes are taken as the contract; nothing is changed in it.
            slices_fit: see `operators.movement.slice_`.
            given: what is known already, of inputs.
        """
        self.opset = model.opset_imports.get("", model.opset_imports.get("ai.onnx", 1))
        self._functions = {key for key in model.functions if key[0] != LAYOUTS}
        self._slices_fit = slices_fit
        self._facts: dict[ir.Value, Fact] = dict(given)
        self._fresh: dict[tuple[ir.Value, int], Expression] = {}
        self._open: set[ir.Node] = set()
        self._sizes_by_values: set[str] = set()  # fresh symbols of sizes that values decide
        self._ranks_by_values: set[ir.Value] = set()
        self._inputs = tuple(model.graph.inputs)
        self._interface = interface_symbols(model.graph)
        self.contradictions: dict[ir.Value, str] = {}

    def of(self, value: ir.Value | None) -> Content:
        """The elements of a small integer tensor of rank 0 (one) or 1 (a tuple), else None.

        An element is a number, an expression over sizes, or None where it is not known.
        """
        fact = UNKNOWN if value is None else self.fact(value)
        return fact.content if fact.shape is not None and len(fact.shape) < 2 else None

    def shape(self, value: ir.Value | None) -> tuple[Dimension, ...] | None:
        """The dimensions of a value; None where even its rank is unknown, or there is no value."""
        return None if value is None else self.fact(value).shape

    def fact(self, value: ir.Value) -> Fact:
        """Everything known about a value, followed back as far as needed."""
        fact = self._facts.get(value)
        return self._follow(value) if fact is None else fact

    def are_alike(self, one: ir.Value, other: ir.Value) -> bool:
        """Whether the same is known of two values, and whether a run is needed for the rest."""
        if self.fact(one) != self.fact(other):
            return False
        return self._is_known(one) == self._is_known(other)

    def forget(self, value: ir.Value) -> None:
        """Compute this value again when it is asked for; what others derived from it stays."""
        self._facts.pop(value, None)
        self.contradictions.pop(value, None)

    def refine(self, node: ir.Node) -> list[Refinement]:
        """What is known of the node's outputs that was not, or that the graph does not say."""
        facts, outputs = self._facts, node.outputs
        before = [facts.pop(value, None) for value in outputs]
        for value in outputs if self.contradictions else ():
            self.contradictions.pop(value, None)
        if all([value is None or value in facts for value in node.inputs]):
            self._evaluate(node)  # as nearly always: nothing has to be followed back
        found: list[Refinement] = []
        for value, known in zip(outputs, before, strict=True):
            fact = self.fact(value)
            refinement = self._refinement(value, fact)
            if refinement is not None:
                found.append(refinement)
            elif known is not None and known != fact:
                found.append(Refinement(value, None, None))
        return found

    def propagate(self, graph: ir.Graph) -> int:
        """Refine every node of the graph and its bodies, in place; the number of values refined."""
        count = 0
        for node in walk_nodes(graph):
            for refinement in self.refine(node):
                refinement.apply()
                count += 1
        return count

    def follows_inputs(self, value: ir.Value) -> bool:
        """Whether its sizes are known in terms of the inputs' sizes, those without a name too."""
        shape = self.fact(value).shape
        free = (dim.symbols() for dim in shape or () if isinstance(dim, Expression))
        return shape is not None and all(self._is_of_inputs(symbols) for symbols in free)

    def _is_of_inputs(self, symbols: frozenset[str]) -> bool:
        unnamed = symbols - self._interface
        return not unnamed or unnamed <= {
            name
            for value in self._inputs
            for axis in range(len(value.shape or ()))
            if (value, axis) in self._fresh
            for name in self._fresh[value, axis].symbols()
        }

    def is_interface(self, dim: Expression) -> bool:
        """Whether a size depends on nothing but named dimensions of the graph's inputs."""
        return dim.symbols() <= self._interface

    def _follow(self, wanted: ir.Value) -> Fact:
        stack = [wanted]
        entered: set[ir.Node] = set()
        while stack:
            value = stack[-1]
            if value in self._facts:
                stack.pop()
                continue
            node = value.producer()
            if node is None:
                self._facts[stack.pop()] = self._source(value)
                continue
            missing = [i for i in node.inputs if i is not None and i not in self._facts]
            if missing and node not in entered:
                entered.add(node)
                stack.extend(missing)
                continue
            if missing:  # only a cycle comes back here
                self._facts.update(dict.fromkeys(missing, UNKNOWN))
            self._evaluate(node)
            stack.pop()
        return self._facts[wanted]

    def _source(self, value: ir.Value) -> Fact:
        """A value that no node makes: a constant, or an input of the graph or of a body."""
        tensor = constant_of(value)
        if tensor is not None:
            return Fact(tensor.dtype, tuple(tensor.shape.numpy()), tensor_content(tensor))
        return self._merged(value, (None, None), None, None)

    def _evaluate(self, node: ir.Node) -> None:
        typed, known = self._ruled(node)
        for index, value in enumerate(node.outputs):
            one = typed[index] if index < len(typed) else (None, None)
            content = known[index] if index < len(known) else None
            self._facts[value] = self._merged(value, one, content, node)

    def _ruled(self, node: ir.Node) -> tuple[list[Typed], list[Content]]:
        """What the rules say about the outputs, empty where nothing is sure."""
        operator = operator_of(node)
        if operator is None:
            return [], []
        if operator.name == "If":
            return self._branched(node)
        rule = operator.types
        if rule is None or (self._functions and node.op_identifier() in self._functions):
            return [], []
        for attribute in node.attributes.data.values():  # this is hot: a view of it is slow
            if attribute.ref_attr_name is not None:
                return [], []
        call = Call(node, self._facts.__getitem__, opset=self.opset, slices_fit=self._slices_fit)
        try:
            typed = list(rule(call))
        except Contradiction as error:
            self.contradictions[node.outputs[0]] = f"{node.op_type}: {error}"
            return [], []
        except _NOT_ALLOWED:
            return [], []
        follow = operator.contents if typed and typed[0][0] in INTEGERS else None
        if follow is None or is_large(typed[0][1]):
            return typed, []
        try:
            return typed, list(follow(call))
        except _NOT_ALLOWED:
            return typed, []

    def _branched(self, node: ir.Node) -> tuple[list[Typed], list[Content]]:
        """What both branches of an If agree on."""
        if node in self._open:
            return [], []  # a branch that uses the result of its own If
        self._open.add(node)
        try:
            # The recursion is as deep as bodies are nested; the loader bounds that.
            branches = [[self.fact(value) for value in body.outputs] for body in bodies(node)]
        finally:
            self._open.discard(node)
        if len(branches) != 2:
            return [], []
        pairs = list(zip(*branches, strict=False))
        return [agreed_type(*pair) for pair in pairs], [
            one.content if one.content == other.content else None for one, other in pairs
        ]

    def _merged(
        self, value: ir.Value, typed: Typed, content: Content, node: ir.Node | None
    ) -> Fact:
        """What a rule says together with what the model declares."""
        if value.type is not None and not isinstance(value.type, ir.TensorType):
            return UNKNOWN
        dtype, computed = typed
        dtype = dtype or value.dtype
        dims = self._dims(value, computed, node)
        if content is not None and dtype is not None:
            content = fitted(content, dtype, dims)
        return Fact(dtype, dims, content)

    def _dims(
        self, value: ir.Value, computed: Shape | None, node: ir.Node | None
    ) -> tuple[Dimension, ...] | None:
        claim = value.shape
        declared = None if claim is None else tuple([declared_dim(dim) for dim in claim.dims])
        if is_whole(computed) and (declared is None or declared == computed):
            decided, shape = False, computed
        else:
            decided = node is not None and self._is_decided(value, node)
            shape = self._with_claim(value, (declared, computed), node, decided=decided)
        if shape is None or len(shape) > _MOST_DIMENSIONS:
            return None
        return tuple(
            [
                dim
                if dim is not None and is_representable(dim)
                else self._unknown(value, axis, decided)
                for axis, dim in enumerate(shape)
            ]
        )

    def _is_decided(self, value: ir.Value, node: ir.Node) -> bool:
        """Whether sizes of an output that no rule tells hang on values, not on sizes."""
        if decided_by_values(node, value.index() or 0, self._is_known):
            return True
        return bool(self._ranks_by_values) and any(v in self._ranks_by_values for v in node.inputs)

    def _is_known(self, value: ir.Value) -> bool:
        """Whether the elements of an input are known, as numbers or as expressions over sizes."""
        content = self._facts[value].content
        elements = content if isinstance(content, tuple) else (content,)
        return None not in elements or constant_of(value) is not None

    def _with_claim(
        self,
        value: ir.Value,
        pair: tuple[Shape | None, Shape | None],
        node: ir.Node | None,
        *,
        decided: bool,
    ) -> Shape | None:
        """The shape that follows from what is declared and what is computed."""
        declared, computed = pair
        if computed is None:
            if decided:
                self._ranks_by_values.add(value)
            return None if decided else declared
        if declared is None:
            return computed
        if len(declared) != len(computed):
            self._contradict(value, computed)
            return None
        trusted = tuple(
            None if dim is None or decided or self._is_stale(dim, node) else dim for dim in declared
        )
        return tuple(
            trusted[axis] if dim is None else self._agreed(value, declared[axis], dim, computed)
            for axis, dim in enumerate(computed)
        )

    def _is_stale(self, declared: Dimension, node: ir.Node | None) -> bool:
        """Whether a declared number may be left from the sizes that an exporter traced with."""
        if node is None or not isinstance(declared, int):
            return False
        facts = (self._facts[value] for value in node.inputs if value is not None)
        return any(isinstance(dim, Expression) for fact in facts for dim in fact.shape or ())

    def _agreed(self, value: ir.Value, declared: Dim, computed: Dimension, shape: Shape) -> Dim:
        """The dimension that follows from what is declared and what is computed.

        A declared number loses against a computed expression: it may be left from the size an
        exporter traced with. A declared name loses where the size is known in terms of the inputs,
        or is decided by values.
        """
        if isinstance(computed, int):
            if isinstance(declared, int) and declared != computed:
                self._contradict(value, shape)
                return None
            return computed
        if declared is None or isinstance(declared, int) or self.is_interface(computed):
            return computed
        return computed if computed.symbols() & self._sizes_by_values else declared

    def _contradict(self, value: ir.Value, computed: Shape) -> None:
        sizes = ",".join("?" if dim is None else str(dim) for dim in computed)
        self.contradictions[value] = f"declared as {value.shape}, computed as [{sizes}]"

    def _unknown(self, value: ir.Value, axis: int, decided: bool) -> Expression:
        """The symbol of a size that nothing is known about, always the same for the same place."""
        fresh = self._fresh.get((value, axis))
        if fresh is None:
            start = UNNAMED if value.producer() is None else FRESH
            fresh = self._fresh[value, axis] = symbol(f"{start}{len(self._fresh)}")
        if decided:
            self._sizes_by_values |= fresh.symbols()
        return fresh

    def _refinement(self, value: ir.Value, fact: Fact) -> Refinement | None:
        if fact.dtype is None or not (value.type is None or isinstance(value.type, ir.TensorType)):
            return None
        dtype = fact.dtype if value.type is None else None
        shape = self._news(value.shape, fact.shape)
        return None if dtype is None and shape is None else Refinement(value, dtype, shape)

    def _news(
        self, declared: ir.Shape | None, known: tuple[Dimension, ...] | None
    ) -> tuple[int | str | None, ...] | None:
        """The dimensions to write, None where the graph already says as much."""
        if known is None:
            return None
        if declared is None:
            return tuple(written_dim(dim) for dim in known)
        if len(declared) != len(known):
            return None
        changed = False
        result: list[int | str | None] = []
        for claim, dim in zip(declared, known, strict=True):
            text = claim if isinstance(claim, int) else claim.value
            if not isinstance(text, int) and not self._is_interface_text(text):
                better = written_dim(dim)
                changed = changed or (better is not None and better != text)
                text = text if better is None else better
            result.append(text)
        return tuple(result) if changed else None

    def _is_interface_text(self, text: str | None) -> bool:
        """Whether the text speaks of the dimensions of the graph's inputs and nothing else."""
        dim = parse(text) if text else None
        return dim is not None and self.is_interface(dim)
