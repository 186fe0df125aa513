// @ts-check
// A schedule as a file. A program in Halide's languages comes from the server, once for each time
// that it was asked for.

import { save } from "../page/files.js";

/** @param {import("./types.js").Draft} draft @param {string} name of the file, without its end */
export function saveSchedule({ primitives, off }, name) {
  const on = primitives.filter((_, at) => !off.includes(at));
  const document = { schema: "passlens.schedule/1", primitives: on };
  save(`${name}.json`, `${JSON.stringify(document, null, 1)}\n`);
}
