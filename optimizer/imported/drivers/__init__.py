"""How each tool is asked, in a worker. A module has two functions and imports its tool in them.

`stages(model, options)` says what would act, in order: each becomes a step of its own.
`run(model, stage, options)` is the model, as bytes, after one of them.
One of rules has a single function: `find(model, options, banned, most)` is their matches and the
model after them.
"""
