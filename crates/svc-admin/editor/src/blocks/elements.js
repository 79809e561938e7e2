// Elements in lists of tokens.

/** The element that is all of a list of tokens: its name, attributes and content. */
export function only(list, ...names) {
  const [first, last] = [list?.[0], list?.at(-1)];
  if (first?.type !== "open" || !names.includes(first.name) || last?.type !== "close") return null;
  let depth = 0;
  for (const [n, token] of list.entries()) {
    if (token.type === "open" && !VOID.has(token.name)) depth += 1;
    if (token.type === "close") depth -= 1;
    if (depth === 0 && n < list.length - 1) return null;
  }
  return { name: first.name, attrs: first.attrs, inside: list.slice(1, -1) };
}

const VOID = new Set(["br", "img", "hr"]);

/** Tokens without white space at both ends. */
export function trimmed(list) {
  const blank = (token) => token?.type === "text" && /^[ \t\n\f\r]*$/.test(token.text);
  let [start, end] = [0, list?.length ?? 0];
  while (start < end && blank(list[start])) start += 1;
  while (end > start && blank(list[end - 1])) end -= 1;
  return list?.slice(start, end) ?? null;
}

/** Children of a list of tokens, one list each; text between them must be white space. */
export function children(list) {
  const out = [];
  let depth = 0;
  let from = 0;
  for (const [n, token] of list.entries()) {
    if (depth === 0 && token.type === "text") {
      if (/[^ \t\n\f\r]/.test(token.text)) return null;
      continue;
    }
    if (depth === 0) from = n;
    if (token.type === "open" && !VOID.has(token.name)) depth += 1;
    if (token.type === "close") depth -= 1;
    if (depth === 0) out.push(list.slice(from, n + 1));
  }
  return out;
}
