// @ts-check
// Texts as files: saved at the visitor's, opened from there.

const MOST_BYTES = 1 << 20;

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
 * @param {string} what it should be: "schedule"
 * @param {(text: string, name: string) => void} read @param {(why: string) => void} refuse
 */
export function openFile(what, read, refuse) {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".json,application/json";
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    if (!file) return;
    if (file.size > MOST_BYTES) refuse(`This file is too long for a ${what} (limit 1 MiB).`);
    else read(await file.text(), file.name);
  });
  input.click();
}
