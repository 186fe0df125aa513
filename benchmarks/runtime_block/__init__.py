"""ONNX Runtime's memory on the CPU as a model: what its block will be, said before it runs.

    sharing      which of its kernels write over what they read
    plan         which value gets memory of its own, and which takes another's
    model        lifetimes of what is in its block, byte for byte

The order in which it runs the nodes is in `optimizer.runtime`, the layout of the block is
the planner "runtime-pattern". No page and no command needs more than these two.
"""
