"""Which kernel is best for the operators that matter: hotspots, extracted and raced.

hotspots ─ a profile of the file as it stands ─▶ workloads, the heaviest first
extract ─ one workload ─▶ a model of its own, real sizes and weights
candidates ─ options and passes (family `kernels`) that make the runtime take another kernel
selection ─ one interleaved race a workload ─▶ ranked rows
decision, confirmation ─ what won, in the whole model, raced again
"""
