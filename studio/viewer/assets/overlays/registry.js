// @ts-check
// All overlays there are. Written by `make docs` from the files of this folder.

import { ELEMENT_TYPES } from "./element-types.js";
import { ERRORS } from "./errors.js";
import { LAYOUTS } from "./layouts.js";
import { NODE_TIMES } from "./node-times.js";

/** @type {OverlayKind[]} */
export const OVERLAYS = [ELEMENT_TYPES, ERRORS, LAYOUTS, NODE_TIMES];
