// @ts-check
// Shapes of what the page Schedule is given. Types only: nothing here runs.

/**
 * @typedef {object} NestNode a line of a nest: a tree in the order of its text
 * @property {number} depth
 * @property {"store" | "produce" | "loop" | "compute"} kind
 * @property {string} func
 * @property {number} stage 0 gives first values, 1 combines
 * @property {string} loop
 * @property {"serial" | "parallel" | "vector" | "unrolled" | "gpu_block" | "gpu_thread"} run
 * @property {number} extent
 * @property {number} most
 * @property {string} tail
 * @property {boolean} reduces
 * @property {number[]} shape
 * @property {number} bytes
 */

/**
 * @typedef {object} FuncMeters
 * @property {string} func
 * @property {number} computed @property {number} needed
 * @property {number} tasks @property {number} lanes @property {number} independent
 * @property {number} working_set_bytes
 * @property {string} fits the first cache that holds it; empty where only memory does
 * @property {number} reuse_distance
 */

/** @typedef {{level: string, cache_bytes: number, moved_bytes: number}} Moved */

/**
 * @typedef {object} Meters
 * @property {FuncMeters[]} funcs
 * @property {number} operations @property {number} amplification
 * @property {number} tasks @property {number} lanes @property {number} independent
 * @property {number} working_set_bytes
 * @property {Moved[]} moved
 */

/** @typedef {{func: string, loop: string, text: string, advice: string}} NestWarning */

/**
 * @typedef {object} StepView after one more primitive
 * @property {string} primitive as text; empty before the first
 * @property {string} refusal @property {string} pending
 * @property {NestNode[]} nodes
 * @property {Meters} meters
 * @property {NestWarning[]} warnings what costs time and need not
 * @property {number | null} predicted_us how long it takes, guessed; null on a GPU
 */

/**
 * @typedef {object} ScheduleView `passlens.schedule-view/1`
 * @property {string} title @property {StepView[]} steps
 * @property {string} machine for which times are guessed @property {string} machine_source
 */

/** @typedef {{primitive: string, func: string, [field: string]: any}} Primitive as a file has it */

/** @typedef {{primitives: Primitive[], texts: string[], off: number[]}} Draft all of a list */

/**
 * @typedef {object} FuncText
 * @property {string} name
 * @property {string[][]} axes name and extent @property {string[][]} reduces
 * @property {string} over @property {string} formula @property {string} dtype
 * @property {boolean} output
 */

/**
 * @typedef {object} Subject
 * @property {string} id @property {string} key @property {string} title @property {string} teaches
 * @property {string} order name of the schedule that was opened
 * @property {{name: string, teaches: string}[]} orders
 * @property {{name: string, dtype: string, shape: string[]}[]} inputs
 * @property {FuncText[]} funcs
 */

/**
 * @typedef {object} Times
 * @property {number} step
 * @property {"running" | "done" | "failed"} state
 * @property {string} [why]
 * @property {number} [median_ms] @property {number} [least_ms] @property {number} [first_ms]
 * @property {number} [runs]
 */

/**
 * @typedef {object} LabData
 * @property {number} acknowledged @property {number} seq @property {number} step
 * @property {Subject} subject
 * @property {{title: string, subjects: {id: string, title: string}[]}[]} offered
 * @property {ScheduleView | null} view the one before as long as this one is being made
 * @property {boolean} fresh whether it is of this draft
 * @property {Draft} draft
 * @property {boolean} undo @property {boolean} redo
 * @property {string} busy @property {string} problem
 * @property {Times[]} times
 * @property {{number: number, name: string, text: string} | null} exported
 */

/**
 * @typedef {object} LabComponent
 * @property {LabData} data
 * @property {any} parentElement
 * @property {(name: string, value: any) => void} setStateValue
 */

export {};
