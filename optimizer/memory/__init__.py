"""Where every byte of a run lives: lifetimes, planners, node order.

What a graph keeps, and for how long:

    sizes, sharing       bytes of values; which operators look at what they read, or write over it
    program, pieces      the nodes that run, in numbers; tensors that share their bytes
    lifetimes, arena     all of it, weights too, with the first step and the last
    facts                live bytes, the floor and totals, before anybody plans

Where it goes:

    buffer, plan         what is placed, and where; the bound below every plan; certificates
    registry, planners   the planners
    planned              an arena with all its plans: what page and command line show
    live_intervals       buffers as columns, for planners that compare all with all
    lazy_allocator       a walk through time, and its film
    search               the exact search
    intervals            buffers and plans as CSV files

When it runs:

    order                orders of nodes that need less memory
    runtime              the order of ONNX Runtime
    rematerialization    what to compute again, and what it costs
"""
