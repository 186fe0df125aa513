// @ts-check
// Streamlit's drop zone says that it is decoration, and has a name all the same: it is a group.

const CONTRADICTION = "[data-testid=stFileUploaderDropzone][role=presentation]";

function mend() {
  for (const zone of document.querySelectorAll(CONTRADICTION)) zone.setAttribute("role", "group");
}

/** Mend what is there and what comes. */
export function mendRoles() {
  mend();
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
}
