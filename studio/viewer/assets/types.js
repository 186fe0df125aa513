// @ts-check
// Shapes shared by the modules of the viewer. Types only: nothing here runs.

/**
 * @typedef {object} NodeRecord
 * @property {string} id
 * @property {string} op
 * @property {string} [domain]
 * @property {string} name
 * @property {string} cat
 * @property {string} [brief]
 * @property {string[]} [rows]
 * @property {number} g
 * @property {string} [body]
 * @property {[string, string][]} [attrs]
 * @property {string[][]} [in]
 * @property {string[][]} [out]
 * @property {string | null} [slot]
 * @property {string | null} [near]
 */

/** @typedef {{id: string, name: string, dtype?: string, shape?: string, from?: string}} Port */
/** @typedef {[string, string, number, number]} EdgeRecord from id, to id, from port, to port */
/** @typedef {{id: string, name: string, parent: number, repeat?: number}} GroupRecord */

/**
 * @typedef {object} GraphJson `passlens.graph/1`
 * @property {string} key
 * @property {string} name
 * @property {NodeRecord[]} nodes
 * @property {Port[]} inputs
 * @property {Port[]} outputs
 * @property {EdgeRecord[]} edges
 * @property {GroupRecord[]} groups
 */

/**
 * @typedef {object} PassRecord
 * @property {string} id
 * @property {string} title
 * @property {string} family
 * @property {string} exactness
 * @property {boolean} [enabled]
 * @property {number} [fired]
 * @property {number} [declined]
 * @property {number} [failed] rules that raised an error
 * @property {string[]} [roots] operators its rules are asked about, "*" for any
 * @property {boolean} [last] it runs once, when all others are done
 * @property {number} [place] in the running order, of those that are on
 * @property {string} [summary]
 * @property {string} [before]
 * @property {string} [after]
 * @property {string} [safe]
 * @property {string} [numerics]
 * @property {string} [source]
 * @property {string} [missing] why it cannot run here, and what to do
 * @property {string} [needs] the package that is not installed
 * @property {string} [install] the line that installs it
 */

/**
 * @typedef {object} BranchRecord a pipeline that was tried
 * @property {number} place
 * @property {number} depth in the tree
 * @property {string} change what was changed there
 * @property {number | null} nodes that it left, where that is known
 * @property {boolean} here whether it is the present one
 * @property {string} versus how a link calls it
 */

/**
 * @typedef {object} StepRecord
 * @property {number} n
 * @property {number} round
 * @property {number} pass
 * @property {string} rule
 * @property {string} match
 * @property {string} root
 * @property {string[]} matched
 * @property {string[]} removed
 * @property {string[]} added
 * @property {Record<string, NodeRecord>} [changed]
 * @property {Record<string, NodeRecord>} [updated] new records of nodes that are themselves as before
 * @property {Record<string, string>} [outs]
 * @property {EdgeRecord[]} [edges_removed]
 * @property {EdgeRecord[]} [edges_added]
 * @property {string} [why]
 * @property {Record<string, string[]>} [from] node -> nodes whose work it does from now on
 * @property {[import("./trace/provenance.js").Kind, string[], string[]][]} [became] how nodes left, which, and
 *   what took their place
 * @property {{nodes?: number, flops?: number, bytes?: number}} [delta]
 * @property {number} [us]
 * @property {number[]} [depends]
 * @property {WeightsRecord} [weights] where only weights go
 * @property {number} [confidence] 0 to 1: which node does the work of which was inferred
 * @property {number} [own] its number in its own trace, where `n` is another
 */

/**
 * @typedef {object} WeightsRecord
 * @property {number} count weights that go
 * @property {number} bytes of all of them
 * @property {[string, string, string, number][]} dropped the first few: name, dtype, shape, bytes
 * @property {[string, string, string, number] | null} kept the one that its readers take instead
 */

/**
 * @typedef {{pass: number, rule: string, node: string, nodes?: string[], reason: string,
 * detail?: string, failed?: boolean, round?: number, unlock?: string}} DeclinedRecord the condition
 *   that failed, how it did here, and what can be done about it; or that the rule itself failed: its
 *   bug, and its error
 */

/**
 * @typedef {{match: string, veto: string, pass: number, rule: string, root: string,
 * matched: string[]}} VetoedRecord `veto` is the match that was vetoed: this one, or one whose place
 * this one would touch
 */

/**
 * @typedef {object} StepsJson `passlens.steps/1`
 * @property {string} key
 * @property {string} graph
 * @property {PassRecord[]} passes
 * @property {NodeRecord[]} nodes
 * @property {StepRecord[]} steps
 * @property {DeclinedRecord[]} declined
 * @property {VetoedRecord[]} [vetoed] held back by the pipeline's vetoes
 * @property {{nodes?: number[], flops?: number[], bytes?: number[]}} [totals]
 * @property {string} [stopped] why the run ended early
 */

/**
 * @typedef {{pass_id: string, matches: number, declined: number, places: string[], whole: boolean}}
 *   PreviewRecord what a pass would do at a step; `whole`: it was asked about all nodes
 */

/**
 * @typedef {object} WhatIfJson `passlens.what-if/2`
 * @property {number} step
 * @property {PreviewRecord[]} passes those that would act or come near
 * @property {string[]} unasked ids of those that there was no time to ask
 */

/** @typedef {[number, number, string, string[]]} KernelJson µs first, µs steady, operator, node ids */

/**
 * @typedef {object} TimesJson `passlens.times/1`
 * @property {{step: number, label: string, kernels: KernelJson[],
 *   profiler_us?: number | null}[]} profiles profiler_us was taken off each; null: nothing was
 */

/** @typedef {Record<string, string>} TextsJson by id */

/**
 * @typedef {object} LayoutsJson `passlens.layouts/1`
 * @property {{step: number, values: TextsJson, conversions: TextsJson,
 *   contradictions: TextsJson}[]} steps those that were looked at: what each has otherwise than the
 *   ones before it, "" for no longer
 */

/**
 * @typedef {object} ErrorsJson `passlens.errors/1`
 * @property {number} step that was compared with the source
 * @property {string} label of how
 * @property {string[]} begins ids of the node where the error begins
 * @property {Record<string, [number | null, number, string]>} nodes by id: signal to error in dB,
 *   null where nothing differs; the largest error as a share of the largest value; what is wrong
 */

/**
 * @typedef {object} FilmJson `passlens.film/1`
 * @property {number} bound the most bytes alive at once
 * @property {[string, string, string, string][]} nodes id, name, operator, category, as they run
 * @property {{name: string[], node: number[], size: number[], start: number[], end: number[],
 *   type: string[], values: number[]}} buffers
 * @property {{kind: number[], buffer: number[], offset: number[], peak: number[], used: number[],
 *   removed: number[][], added: number[][]}} events offset and size of free blocks, flat
 * @property {{id: string, title: string, offsets: number[], peak: number,
 *   certificate: string | null, note: string}[]} lanes naive, lazy, best
 */

/**
 * @typedef {{verdict: "running" | "equal" | "differs" | "within" | "exceeds" | "not_run", text: string}} Verified
 * whether the outputs are those of the source
 */

/** @typedef {{id: string, name: string, steps: {key: string, url: string} | null}} Versus */

/**
 * @typedef {object} Descriptor what Streamlit sends
 * @property {number} seq
 * @property {number} [acknowledged] of the last message that was heard
 * @property {"model" | "rewrite" | "film"} mode
 * @property {{key: string, url: string} | null} graph
 * @property {{key: string, url: string} | null} [steps]
 * @property {Record<string, {key: string, url: string} | null>} [overlays] what is kept of nodes, by id
 * @property {{key: string, url: string} | null} [film]
 * @property {{text: string, fraction?: number | null, cancel?: boolean} | null} [busy]
 * @property {{kind: string, text: string} | null} [message]
 * @property {number | null} [step]
 * @property {number | null} [event] of the film, where it opens
 * @property {"source" | "previous"} [before]
 * @property {string[]} [select]
 * @property {string[] | null} [open]
 * @property {{key: string, url: string} | null} [what_if] where to ask what passes would do at a step
 * @property {Versus | null} [versus] the pipeline whose result is shown beside
 * @property {{preset: string, name?: string, presets: string[], enabled: string[], file?: string,
 *   order?: string[], vetoed: {match: string, rule: string, root: string}[]}} [pipeline]
 * @property {PassRecord[]} [passes]
 * @property {BranchRecord[]} [branches] pipelines that were tried, from the top of their tree
 * @property {Verified | null} [verified]
 */

/**
 * @typedef {object} Component what Streamlit's custom components hand to us
 * @property {Descriptor} data
 * @property {any} parentElement
 * @property {(name: string, value: any) => void} setStateValue
 */

export {};
