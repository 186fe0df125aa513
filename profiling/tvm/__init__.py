"""Apache TVM as another writer of kernels, to be raced against: an extra, in worker processes only.

scalars ─ a loop's body as TVM's expressions
primitive ─ an algorithm as a function over buffers, in an order of its own
objects ─ the function as an object file that the library's table can call
store ─ libraries of such kernels, kept by content
"""
