// Parses HTML of others without running it.
//
// Browsers report event handlers and style attributes as violations of the page's content security policy as soon as they
// parse them, also in a document in which nothing runs, and ignore the styles. Both are renamed first. Style sheets are left
// out.

const RENAMED = "data-was-";

/**
 * @param {string} html
 * @returns {HTMLElement} the body of a document of its own. Attributes that act may still be in it
 */
export function parseQuietly(html) {
  const quiet = withoutStyles(html).replace(/<[a-z][^<>]*>/gi, (tag) => tag.replace(/([\s"'/])(on[a-z]+|style)(?=\s*=)/gi, `$1${RENAMED}$2`));
  return new DOMParser().parseFromString(quiet.includes("<body") ? quiet : `<!doctype html><body>${quiet}`, "text/html").body;
}

/** The HTML without its style sheets, in time that grows with its length only. */
function withoutStyles(html) {
  const open = /<style[\s>]/gi;
  const close = /<\/style\s*>/gi;
  let out = "";
  let at = 0;
  for (;;) {
    open.lastIndex = at;
    const begin = open.exec(html);
    close.lastIndex = begin?.index ?? 0;
    if (!begin || !close.exec(html)) return out + html.slice(at);
    out += html.slice(at, begin.index);
    at = close.lastIndex;
  }
}

/** Text of an element's style attribute, "" for none. */
export function styleText(element) {
  return element.getAttribute(`${RENAMED}style`) ?? element.getAttribute("style") ?? "";
}

/** Declarations of an element's style attribute, by property. */
export function styles(element) {
  const out = {};
  for (const part of styleText(element).split(";")) {
    const colon = part.indexOf(":");
    if (colon > 0) out[part.slice(0, colon).trim().toLowerCase()] = part.slice(colon + 1).trim().toLowerCase();
  }
  return out;
}
