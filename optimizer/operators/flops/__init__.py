"""Floating-point operations of each operator, from its shapes.

A multiply-accumulate counts 2 and every other elementary operation 1, whatever it costs a machine
(a fused operator counts what its parts count, so that fusing changes traffic and not arithmetic).
Moving data counts 0. Formulas name the shapes they use; `out` is the number of output elements.
"""
