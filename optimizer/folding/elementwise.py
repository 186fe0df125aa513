"""Operators that work on one tensor, element by element, whatever its shape."""

from __future__ import annotations

UNARY = frozenset(
    {
        "Abs",
        "Cast",
        "Ceil",
        "Elu",
        "Erf",
        "Exp",
        "Floor",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "Identity",
        "LeakyRelu",
        "Log",
        "Neg",
        "Not",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Sigmoid",
        "Sign",
        "Softplus",
        "Sqrt",
        "Tanh",
    }
)
