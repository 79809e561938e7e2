// The bar that offers texts which this browser kept and which were not saved.

import { button, el } from "../surface/dom.js";

/**
 * Shows a bar for each copy above an element.
 *
 * @param {HTMLElement} above
 * @param {import("./copies.js").Copy[]} copies newest first
 * @param {string} etag version of the post that the page shows
 * @param {(copy: import("./copies.js").Copy) => void} restore
 * @param {(copy: import("./copies.js").Copy) => void} discard
 */
export function offer(above, copies, etag, restore, discard) {
  for (const copy of copies) {
    // The clocks of browser and server differ, so only the version says what is newer.
    const text = copy.etag === etag ? "This browser has a newer version from " : "This browser has a version that was not saved, from ";
    const time = el("time", { dateTime: new Date(copy.time).toISOString() }, timeOf(copy.time, Date.now()));
    const bar = el("div", { className: "editor-recover", role: "region", "aria-label": "Unsaved version" }, el("span", {}, text, time, "."),
      button("Restore", () => (restore(copy), bar.remove()), { onmousedown: null }),
      button("Discard", () => (discard(copy), bar.remove()), { onmousedown: null }));
    above.before(bar);
  }
}

/**
 * Shows a bar for pictures that were not uploaded.
 *
 * @param {HTMLElement} above
 * @param {import("./pictures.js").Picture[]} pictures
 * @param {() => void} again
 * @param {() => void} discard
 */
export function offerPictures(above, pictures, again, discard) {
  const names = pictures.map(({ file }) => file.name);
  const text = names.length === 1 ? `A picture was not uploaded: ${names[0]}.` : `${names.length} pictures were not uploaded: ${names.join(", ")}.`;
  const bar = el("div", { className: "editor-recover", role: "region", "aria-label": "Pictures that were not uploaded" }, el("span", {}, text),
    button("Upload again", () => (again(), bar.remove()), { onmousedown: null }),
    button("Discard", () => (discard(), bar.remove()), { onmousedown: null }));
  above.before(bar);
}

/** The time of the day; with the date, if it is another day. */
function timeOf(time, now) {
  const date = new Date(time);
  const clock = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return date.toDateString() === new Date(now).toDateString() ? clock : `${date.toLocaleDateString()}, ${clock}`;
}
