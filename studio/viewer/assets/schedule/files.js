// @ts-check
// A schedule as a file: saved here, opened from here. A program in Halide's languages comes from the
// server, once for each time that it was asked for.

const MOST_BYTES = 1 << 20;

/** @param {import("./types.js").Draft} draft @param {string} name of the file, without its end */
export function saveSchedule({ primitives, off }, name) {
  const on = primitives.filter((_, at) => !off.includes(at));
  const document = { schema: "passlens.schedule/1", primitives: on };
  save(`${name}.json`, `${JSON.stringify(document, null, 1)}\n`);
}

/** Give a text to the visitor as a file. @param {string} name @param {string} text */
export function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * A file of the visitor's.
 * @param {(text: string) => void} read @param {(why: string) => void} refuse
 */
export function openFile(read, refuse) {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".json,application/json";
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    if (!file) return;
    if (file.size > MOST_BYTES) refuse("This file is too long for a schedule (limit 1 MiB).");
    else read(await file.text());
  });
  input.click();
}
