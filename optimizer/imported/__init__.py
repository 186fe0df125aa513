"""Other projects' optimizers as passes: bytes to bytes in a worker process, taken over as steps.

drivers/   what a tool's stages are and how each is run; in a worker only
jobs       a tool on a file, a model held against what it was made from: functions for a worker
alike      which nodes, constants and bodies of two graphs are the same
recovery   what a tool has changed, told from the two graphs
places     where it did, and how sure that is
steps      one change after another, each checked once it is in place
matches    matches of rules as data, between the worker and us
rule_steps the rules of a tool, each match a step
own_rules  who may have rules of their own run
"""
