"""Which precision each part of a model should have: searches that build models and run them.

regions ─ a graph cut where a single value flows ─▶ parts that share one precision
plans ─ a choice for each region ─▶ a pipeline, whose trace can be watched
search ─ corners, reversion by sensitivity, Optuna ─▶ the cheapest plan within a budget
pareto ─ what was tried ─▶ size × latency × error
keep_list_search ─ nodes that 16 bits hurt ─▶ `keep` of the pass that converts to float16
"""
