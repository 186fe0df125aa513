"""Checks of one node against the definition of its operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
)

from optimizer.errors import Duplicate, InvalidGraph, LimitError, Unsupported, quoted
from optimizer.limits import Limits
from optimizer.model.declared import check_type_attribute
from optimizer.model.functions import FunctionKey, call_key
from optimizer.model.nesting import bodies_of
from optimizer.model.report import Findings, Place
from optimizer.model.signatures import (
    ALIAS,
    DEFINED_DOMAINS,
    RUNTIME_EXTRAS,
    RUNTIME_OPSETS,
    Signature,
    first_version,
    signature,
)
from optimizer.model.tensors import check_sparse, check_tensor

_VARIADIC = 1 << 30
_KINDS = {value: name for name, value in AttributeProto.AttributeType.items()}
_LARGE = frozenset(_KINDS) - {AttributeProto.INT, AttributeProto.FLOAT}
"""Attribute types whose content can be large or hold more."""


@dataclass(slots=True)
class Facts:
    """What later steps of loading need to know about a valid model.

    Attributes:
        external: tensors whose data is in another file, each with its place.
        sparse: whether there is a sparse tensor.
        bodies: whether some node carries a body.
        unsorted: whether some list of nodes is not in topological order.
        borrowed_outputs: bodies that return a value of a graph around them, with its name.
    """

    external: list[tuple[TensorProto, Place]] = field(
        default_factory=list[tuple[TensorProto, Place]]
    )
    sparse: bool = False
    bodies: bool = False
    unsorted: bool = False
    borrowed_outputs: list[tuple[GraphProto, str]] = field(
        default_factory=list[tuple[GraphProto, str]]
    )


@dataclass(slots=True)
class Rules:
    """What holds for all nodes of one body.

    Attributes:
        versions: operator sets in force, by domain.
        functions: the model's own functions.
        in_function: whether attributes may refer to the function's.
        facts: what is found on the way.
        assumed: operator sets used without being imported, of which only one version exists.
        foreign: operator sets already reported as unknown to the runtime.
    """

    limits: Limits
    report: Findings
    versions: Mapping[str, int]
    functions: Mapping[FunctionKey, FunctionProto]
    in_function: bool = False
    facts: Facts = field(default_factory=Facts)
    assumed: set[str] = field(default_factory=set[str])
    foreign: set[str] = field(default_factory=set[str])


def check_node(node: NodeProto, where: Place, rules: Rules) -> list[tuple[str, GraphProto]]:
    """Check operator, numbers of inputs and outputs, and attributes, but not the bodies inside.

    Returns: the bodies, each with the name of its attribute.
    """
    definition = _definition(node, where, rules)
    if definition is not None:
        _check_counts(node, definition, where, rules.report)
    return _check_attributes(node, definition, where, rules)


def _definition(node: NodeProto, where: Place, rules: Rules) -> Signature | None:
    domain, operator = node.domain, node.op_type
    if domain == ALIAS:
        domain = ""
    function = rules.functions.get(call_key(node))
    if function is not None:
        return _function_signature(function)
    if not operator:
        rules.report.error(InvalidGraph, where, "It has no operator.")
        return None
    version = rules.versions.get(domain)
    if version is None and RUNTIME_OPSETS.get(domain) == 1 and not rules.in_function:
        rules.assumed.add(domain)  # there is only one version that could be meant
        version = 1
    if version is None:
        rules.report.error(
            InvalidGraph,
            where,
            f"Its operator set {quoted(domain or 'ai.onnx')} is not imported by the model.",
            remedy="Add the operator set to the model's opset_import.",
        )
        return None
    if domain not in DEFINED_DOMAINS:
        _check_foreign(node, where, rules)
        return None
    found = signature(domain, operator, version)
    if found is None and not (domain == "" and operator in RUNTIME_EXTRAS):
        _report_unknown(node, where, version, rules.report)
    elif found is not None and found.deprecated:
        message = f"{operator} was withdrawn from ONNX in opset {found.since}."
        rules.report.warning(where, message, remedy="Export the model again, to a newer opset.")
        return None
    return found


def _check_foreign(node: NodeProto, where: Place, rules: Rules) -> None:
    if node.op_type == "EPContext":
        rules.report.error(
            Unsupported,
            where,
            "EPContext nodes hold a compiled part of a model and can name files to open.",
            remedy="Open the model it was compiled from.",
        )
    elif node.domain not in RUNTIME_OPSETS and node.domain not in rules.foreign:
        rules.foreign.add(node.domain)
        rules.report.warning(
            where,
            f"ONNX Runtime has no operators from {quoted(node.domain)}.",
            remedy="The model can be viewed and optimized around them.",
            blocks=("runnable",),
        )


def _report_unknown(node: NodeProto, where: Place, version: int, report: Findings) -> None:
    operator, domain = quoted(node.op_type), quoted(node.domain or "ai.onnx")
    first = first_version(node.domain, node.op_type)
    message = f"The operator set {domain} has no operator {operator}."
    if first is not None:
        message = f"{operator} exists since opset {first}, but the model uses opset {version}."
    report.error(InvalidGraph, where, message)


def _function_signature(function: FunctionProto) -> Signature:
    return Signature(
        since=1,
        deprecated=False,
        inputs=(0, len(function.input)),
        outputs=(0, len(function.output)),
        attributes={},
        required=frozenset(),
        closed=False,
        formal_inputs=(),
        formal_outputs=(),
    )


def _check_counts(node: NodeProto, definition: Signature, where: Place, report: Findings) -> None:
    for what, given, (fewest, most) in (
        ("input", len(node.input), definition.inputs),
        ("output", len(node.output), definition.outputs),
    ):
        if not fewest <= given <= most:
            wanted = _range_text(fewest, most)
            message = f"{node.op_type} has {wanted} {what}s, but here {given:,}."
            report.error(InvalidGraph, where, message)
    if "" not in node.input:
        return
    for name, formal in zip(node.input, definition.formal_inputs, strict=False):
        if not name and not formal.optional and not formal.variadic:
            message = f"The input {quoted(formal.name)} of {node.op_type} is missing."
            report.error(InvalidGraph, where, message)


def _range_text(fewest: int, most: int) -> str:
    if most >= _VARIADIC:
        return f"at least {fewest}"
    return str(fewest) if fewest == most else f"{fewest} to {most}"


def _check_attributes(
    node: NodeProto, definition: Signature | None, where: Place, rules: Rules
) -> list[tuple[str, GraphProto]]:
    seen: set[str] = set()
    bodies: list[tuple[str, GraphProto]] = []
    for attribute in node.attribute:
        name = attribute.name
        if name in seen or not name:
            message = f"Two attributes are named {quoted(name)}." if name else "Nameless attribute."
            rules.report.error(Duplicate, where, message)
        seen.add(name)
        problem = _type_problem(attribute, definition, where, rules)
        if problem:
            rules.report.error(InvalidGraph, where, f"The attribute {quoted(name)} {problem}")
        elif attribute.type in _LARGE:
            _check_content(attribute, where, rules)
            bodies.extend(bodies_of(attribute))
    missing = definition.required - seen if definition is not None else ()
    for name in sorted(missing):
        message = f"The attribute {quoted(name)} of {node.op_type} is missing."
        rules.report.error(InvalidGraph, where, message)
    return bodies


def _type_problem(
    attribute: AttributeProto, definition: Signature | None, where: Place, rules: Rules
) -> str:
    given = attribute.type
    if given == AttributeProto.UNDEFINED:
        return "has no type."
    if given not in _KINDS:
        return f"has the unknown type {given}."
    if not rules.in_function and attribute.HasField("ref_attr_name"):
        return "refers to an attribute of a function, but is not in one."
    wanted = definition.attributes.get(attribute.name) if definition is not None else given
    if wanted is None and definition is not None and definition.closed:
        message = f"The operator has no attribute {quoted(attribute.name)}."
        rules.report.warning(where, message, remedy="Remove it.", blocks=("runnable",))
    if wanted is None or wanted == given:
        return ""
    return f"is of type {_KINDS[given]}, but must be {_KINDS[wanted]}."


def _check_content(attribute: AttributeProto, where: Place, rules: Rules) -> None:
    given, inside = attribute.type, Place("attribute", attribute.name, around=where)
    if given == AttributeProto.TENSOR:
        check_stored(attribute.t, inside, rules)
    elif given == AttributeProto.TENSORS:
        for tensor in attribute.tensors:
            check_stored(tensor, inside, rules)
    elif given == AttributeProto.SPARSE_TENSOR:
        check_stored_sparse(attribute.sparse_tensor, inside, rules)
    elif given == AttributeProto.TYPE_PROTO:
        check_type_attribute(attribute.tp, inside, rules.report)
    elif given in {AttributeProto.SPARSE_TENSORS, AttributeProto.TYPE_PROTOS}:
        message = f"Attributes of type {_KINDS[given]} are not supported."
        rules.report.error(Unsupported, inside, message, remedy="")
    items, limit = _item_count(attribute), rules.limits.attribute_items
    if items > limit:
        message = f"The attribute has {items:,} items or bytes (limit {limit:,})."
        rules.report.error(LimitError, inside, message, remedy="Store it as a tensor.")


def _item_count(attribute: AttributeProto) -> int:
    match attribute.type:
        case AttributeProto.INTS:
            return len(attribute.ints)
        case AttributeProto.FLOATS:
            return len(attribute.floats)
        case AttributeProto.STRING:
            return len(attribute.s)
        case AttributeProto.STRINGS:
            return max(len(attribute.strings), sum(map(len, attribute.strings)))
        case _:
            return 0


def check_stored(tensor: TensorProto, where: Place, rules: Rules) -> None:
    """Check a tensor, and remember it if its data is in another file."""
    good = check_tensor(tensor, where, rules.report)
    if good and tensor.data_location == TensorProto.EXTERNAL:
        rules.facts.external.append((tensor, where))


def check_stored_sparse(sparse: SparseTensorProto, where: Place, rules: Rules) -> None:
    """Check a sparse tensor, and remember that there is one."""
    rules.facts.sparse = True
    check_sparse(sparse, where, limits=rules.limits, report=rules.report)
