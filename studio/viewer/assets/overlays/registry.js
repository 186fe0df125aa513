// @ts-check
// All overlays there are.

import { NODE_TIMES } from "./node-times.js";

/** @type {OverlayKind[]} */
export const OVERLAYS = [NODE_TIMES];
