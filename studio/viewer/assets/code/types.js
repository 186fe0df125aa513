// @ts-check
// What studio/schedule/code_job.py sends.

/**
 * @typedef {object} Level code at one level, line by line
 * @property {string} id
 * @property {string} title
 * @property {string[]} texts
 * @property {number[][]} nodes of the nest that each line is code of; none where no tool says
 * @property {string[]} marks of each line, words
 * @property {number} leftOut lines that were cut off
 */
/**
 * @typedef {object} LoopCode instructions of a loop, without those of the loops in it
 * @property {number} node -1 for what is in no loop
 * @property {number} instructions
 * @property {number} bits of the widest vectors
 * @property {number} vectors
 * @property {number} scalar
 * @property {number} fma
 * @property {number} gather
 * @property {number} calls
 * @property {number} spills
 * @property {number} reloads
 * @property {number} spilledBytes
 * @property {number} reloadedBytes
 */
/**
 * @typedef {object} CodeData
 * @property {"code"} kind
 * @property {string} title
 * @property {string} processor
 * @property {number[]} depths of the nest's nodes, in the order of its text
 * @property {string[]} names of them
 * @property {Level[]} levels
 * @property {LoopCode[]} loops
 */
/**
 * @typedef {object} KernelUsage what a kernel takes of a GPU; null where no tool says it
 * @property {string} name
 * @property {number | null} registers of a thread
 * @property {number | null} sharedBytes of a block
 * @property {number | null} stackBytes of a thread
 * @property {number | null} spillStoreBytes
 * @property {number | null} spillLoadBytes
 */
/**
 * @typedef {object} GpuData nodes are lines of the first level, which is the source
 * @property {"gpu"} kind
 * @property {string} title
 * @property {string} processor
 * @property {Level[]} levels
 * @property {KernelUsage[]} kernels
 */
/**
 * @typedef {object} Links what belongs together
 * @property {string[]} first levels that are shown until others are chosen
 * @property {string} remembered where those that were chosen are kept
 * @property {string} untold of a line that belongs to nothing
 * @property {(level: Level, nodes: number[]) => {lines: number[], around: boolean}} lines
 * @property {(nodes: number[]) => string} sentence
 * @property {() => HTMLElement} legend
 * @property {(
 *   look: (node: number) => void,
 *   leave: () => void,
 *   pin: (node: number) => void,
 * ) => HTMLElement | null} table
 */
/** @typedef {["same" | "changed" | "removed" | "added", number, number]} DiffRow */
/**
 * @typedef {object} LevelDifference
 * @property {string} id
 * @property {string} title
 * @property {number} changed
 * @property {number} leftOut
 * @property {string[]} before
 * @property {string[]} after
 * @property {DiffRow[]} rows
 */
/**
 * @typedef {object} DifferenceData
 * @property {"difference"} kind
 * @property {string} title
 * @property {string} processor
 * @property {number[]} steps
 * @property {LevelDifference[]} levels
 */
/**
 * @typedef {object} CodeComponent
 * @property {CodeData | GpuData | DifferenceData} data
 * @property {any} parentElement
 */

export {};
