// The named fields of the page's form.

/** Fields that belong to one page view and not to the post. */
const OWN = new Set(["_wp_http_referer", "post", "etag", "action"]);

/**
 * All fields as they are sent.
 *
 * @param {HTMLFormElement} form
 * @returns {[string, string][]}
 */
export function readAll(form) {
  return [...new FormData(form)].filter(([, value]) => typeof value === "string");
}

/** The fields that are the post's, without passwords, which a browser's storage should not have. */
export function readPost(form) {
  return readAll(form).filter(([name]) => !OWN.has(name) && !name.endsWith("nonce") && !isPassword(form, name));
}

function isPassword(form, name) {
  const element = form.elements.namedItem(name);
  return /password|pwd/i.test(name) || (element instanceof HTMLInputElement && element.type === "password");
}

/**
 * Puts values into the form.
 *
 * @param {HTMLFormElement} form
 * @param {[string, string][]} fields
 */
export function write(form, fields) {
  const values = new Map();
  for (const [name, value] of fields) values.set(name, [...(values.get(name) ?? []), value]);
  for (const element of form.elements) {
    const { name } = element;
    if (!name || OWN.has(name) || element instanceof HTMLButtonElement || isPassword(form, name)) continue;
    const given = values.get(name);
    if (element.type === "checkbox" || element.type === "radio") {
      element.checked = given?.includes(element.value) ?? false;
    } else if (element instanceof HTMLSelectElement && element.multiple) {
      for (const option of element.options) option.selected = given?.includes(option.value) ?? false;
    } else if (given?.length > 0 && element.type !== "file") {
      element.value = given.shift();
    } else {
      continue;
    }
    element.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

/** Whether two lists of fields have the same values. */
export function equal(a, b) {
  const text = (fields) => JSON.stringify(fields.map(([name, value]) => [name, value.replace(/\r\n?/g, "\n")]).sort(([x, v], [y, w]) => (x < y || (x === y && v < w) ? -1 : 1)));
  return text(a) === text(b);
}
