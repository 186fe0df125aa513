"""Which kernel is best for the operators that matter: hot operators, extracted and raced.

hot ─ a profile of the file as it stands ─▶ workloads, the heaviest first
extract ─ one workload ─▶ a model of its own, real sizes and weights
candidates ─ options and passes (family `kernels`) that make the runtime take another kernel
selection ─ one interleaved race a workload ─▶ ranked rows
decision, whole ─ what won, in the whole model, raced again
"""
