"""Regions of a graph that become one generated kernel.

algorithm ─ what the nodes of a region compute, as loops
work      ─ what the loops of one node are like
growth    ─ which nodes belong together
parts     ─ groups taken apart until the outputs of each have one shape
checks    ─ whether there are loops for a region
prices    ─ what a region takes node by node, and as one kernel
planning  ─ which regions of a graph become kernels, which do not, and why
"""
