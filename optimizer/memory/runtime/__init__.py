"""ONNX Runtime's memory on the CPU as a model: what it will do, said before it runs.

    graph        the nodes that run, with all of its own rewrites off
    order        the order in which it runs them
    sharing      which of its kernels write over what they read
    plan         which value gets memory of its own, and which takes another's
    model        lifetimes of what is in its block, byte for byte

Only the layout of that block is elsewhere: it is the planner "runtime-pattern".
"""
