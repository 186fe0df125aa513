"""The nodes that ONNX Runtime runs on the CPU, and in which order, said before it runs.

    graph        the nodes that run, with all of its own rewrites off
    order        the order in which it runs them
    fusions      what it makes part of products and convolutions with its rewrites on

How its block of memory is laid out is the planner "runtime-pattern"; which values are in it is
modelled, and compared with what is measured, in `benchmarks.runtime_block`.
"""
