// @ts-check
// The step one stands at, for the link that is shared: the server does not hear of it.

import { answerAsked } from "../page/link.js";

/** @param {import("./lab-state.js").LabState} state @returns {() => void} ends it */
export function answerForSchedules(state) {
  return answerAsked((address) => {
    const url = new URL(address);
    const { step, steps } = state;
    if (step < steps.length - 1) url.searchParams.set("at", String(step));
    else url.searchParams.delete("at");
    return url.href;
  });
}
