// Attributes in block comments. They are kept as the text that was stored, so that numbers, the order of keys and
// whatever the editor does not know stay as they are.

/**
 * The attributes of a comment, or null if they are not a JSON object.
 *
 * @param {string} json "" for none
 * @returns {Record<string, unknown> | null}
 */
export function parse(json) {
  if (json === "") return {};
  try {
    const value = JSON.parse(json);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * The text with one attribute changed, or removed if the value is undefined.
 *
 * @param {string} json
 * @param {string} key
 * @param {unknown} value
 */
export function set(json, key, value) {
  const attrs = parse(json) ?? {};
  if (attrs[key] === value) return json;
  if (value === undefined) delete attrs[key];
  else attrs[key] = value;
  return stringify(attrs);
}

/**
 * Attributes as text for a comment, "" if there are none. `--`, `<`, `>`, `&`, `\` and `"` in strings are escaped.
 *
 * @param {Record<string, unknown>} attrs
 */
export function stringify(attrs) {
  if (Object.keys(attrs).length === 0) return "";
  return JSON.stringify(attrs)
    .replaceAll("\\\\", "\\u005c")
    .replaceAll("--", "\\u002d\\u002d")
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026")
    .replaceAll('\\"', "\\u0022");
}
