// @ts-check
// All overlays there are. Written by `make docs` from the files of this folder.

import { NODE_TIMES } from "./node-times.js";

/** @type {OverlayKind[]} */
export const OVERLAYS = [NODE_TIMES];
