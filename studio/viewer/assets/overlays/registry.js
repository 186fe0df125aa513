// @ts-check
// All overlays there are.

import { NODE_TIMES } from "./node-times.js";

/** @type {import("./overlay.js").OverlayKind[]} */
export const OVERLAYS = [NODE_TIMES];
