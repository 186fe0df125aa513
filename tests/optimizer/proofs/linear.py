"""Sums of products over the reals: products of matrices, convolutions, reductions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any, Protocol

import numpy as np
import onnx
from onnx import helper

from tests.optimizer.proofs.smt import Term, Unsupported, z3

Terms = np.ndarray


class Surroundings(Protocol):
    """What the evaluator knows beyond the node."""

    opsets: Mapping[str, int]


def terms_of(
    node: onnx.NodeProto, operands: Sequence[Terms | None], scope: Surroundings
) -> Terms | None:
    """The terms of the first output; None where this is no such operator."""
    given = [one for one in operands if one is not None]
    attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    if node.op_type in _BY_OPERATOR:
        return _BY_OPERATOR[node.op_type](given, attributes)
    del scope
    return None


def product(a: Terms, b: Terms) -> Terms:
    """numpy.matmul of terms."""
    return np.asarray(np.matmul(a, b), object)


def _matmul(given: Sequence[Terms], attributes: Mapping[str, Any]) -> Terms:
    del attributes
    return product(given[0], given[1])


def _gemm(given: Sequence[Terms], attributes: Mapping[str, Any]) -> Terms:
    a, b = given[:2]
    a = a.T if attributes.get("transA", 0) else a
    b = b.T if attributes.get("transB", 0) else b
    result = product(a, b) * _number(attributes.get("alpha", 1.0))
    return result + given[2] * _number(attributes.get("beta", 1.0)) if len(given) > 2 else result


def _number(value: float) -> Term:
    return z3.RealVal(str(Fraction(value).limit_denominator(1000)))


def _conv(given: Sequence[Terms], attributes: Mapping[str, Any]) -> Terms:
    """Conv of any number of spatial axes, padded with zeros."""
    data, weight = given[:2]
    rank = data.ndim - 2
    if attributes.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
        raise Unsupported("Conv with auto_pad")
    strides, dilations = (attributes.get(n) or [1] * rank for n in ("strides", "dilations"))
    pads = attributes.get("pads") or [0] * (2 * rank)
    around = [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)]
    padded = np.pad(data, around, constant_values=z3.RealVal(0))
    span = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilations, strict=True)]
    sizes = [(n - s) // t + 1 for n, s, t in zip(padded.shape[2:], span, strides, strict=True)]
    group = attributes.get("group", 1)
    each, width = weight.shape[0] // group, weight.shape[1]
    result = np.empty((data.shape[0], weight.shape[0], *sizes), object)
    for batch, channel, *at in np.ndindex(result.shape):
        first = channel // each * width
        window = tuple(
            slice(p * t, p * t + s, d)
            for p, t, s, d in zip(at, strides, span, dilations, strict=True)
        )
        seen = padded[(batch, slice(first, first + width), *window)]
        total = (seen * weight[channel]).sum()
        result[(batch, channel, *at)] = total + given[2][channel] if len(given) > 2 else total
    return result


def _normalized(given: Sequence[Terms], attributes: Mapping[str, Any]) -> Terms:
    """BatchNormalization in inference; √ is a function of the number under it."""
    if attributes.get("training_mode", 0):
        raise Unsupported("BatchNormalization in training")
    data, *tables = given
    shape = (-1, *[1] * (data.ndim - 2))
    scale, bias, mean, variance = (table.reshape(shape) for table in tables)
    epsilon = Fraction(str(round(attributes.get("epsilon", 1e-5), 12)))
    deviation = np.frompyfunc(_rational_root, 1, 1)(variance + z3.RealVal(str(epsilon)))
    return (data - mean) / deviation * scale + bias


def _rational_root(term: Term) -> Term:
    """√ of a known number, as a fraction with 30 digits."""
    value = z3.simplify(term)
    if not z3.is_rational_value(value):
        return z3.Function("Sqrt", z3.RealSort(), z3.RealSort())(term)
    number = Fraction(value.numerator_as_long(), value.denominator_as_long())
    scaled = number * 10**60
    root = isqrt(scaled.numerator // scaled.denominator)
    return z3.RealVal(str(Fraction(root, 10**30)))


def _reduced(combine: Callable[[Sequence[Term]], Term]) -> Callable[..., Terms]:
    def reduce(given: Sequence[Terms], attributes: Mapping[str, Any]) -> Terms:
        data = given[0]
        axes = attributes.get("axes")
        if len(given) > 1:
            axes = [one.as_signed_long() for one in given[1].ravel()]
        axes = sorted({axis % data.ndim for axis in axes} if axes else range(data.ndim))
        if not axes or attributes.get("noop_with_empty_axes", 0):
            raise Unsupported("a reduction over no axes")
        rest = [axis for axis in range(data.ndim) if axis not in axes]
        rows = data.transpose(*rest, *axes).reshape(*(data.shape[axis] for axis in rest), -1)
        result = np.empty(rows.shape[:-1], object)
        for place in np.ndindex(result.shape):
            result[place] = combine([*rows[place]])
        if attributes.get("keepdims", 1):
            return result.reshape([1 if a in axes else n for a, n in enumerate(data.shape)])
        return result

    return reduce


def _mean(terms: Sequence[Term]) -> Term:
    return z3.Sum(terms) / len(terms)


def _largest(terms: Sequence[Term]) -> Term:
    result = terms[0]
    for other in terms[1:]:
        result = z3.If(result < other, other, result)
    return result


def _global_mean(given: Sequence[Terms], attributes: Mapping[str, Any]) -> Terms:
    del attributes
    return _reduced(_mean)(given[:1], {"axes": [*range(2, given[0].ndim)]})


_BY_OPERATOR: Mapping[str, Callable[[Sequence[Terms], Mapping[str, Any]], Terms]] = {
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Conv": _conv,
    "BatchNormalization": _normalized,
    "GlobalAveragePool": _global_mean,
    "ReduceSum": _reduced(z3.Sum),
    "ReduceMean": _reduced(_mean),
    "ReduceMax": _reduced(_largest),
    "ReduceSumSquare": _reduced(lambda terms: z3.Sum([t * t for t in terms])),
}
