// Compares two contents block by block, and joins the chosen blocks.

import { split } from "../blocks/pieces.js";

/**
 * @typedef {{gap: string, name: string | null, source: string}} Unit a block with the white space before it
 * @typedef {{equal: Unit[]} | {mine: Unit[], theirs: Unit[]}} Part
 */

/** @param {string} content @returns {{units: Unit[], end: string}} */
function units(content) {
  const out = [];
  let gap = "";
  for (const { name, source } of split(content)) {
    if (name === null && /^[ \t\n\f\r]*$/.test(source)) {
      gap += source;
    } else {
      out.push({ gap, name, source });
      gap = "";
    }
  }
  return { units: out, end: gap };
}

/**
 * The parts of two contents in order: blocks that are equal, and ones that differ.
 *
 * @param {string} mine
 * @param {string} theirs
 * @returns {{parts: Part[], end: string}}
 */
export function compare(mine, theirs) {
  const a = units(mine);
  const b = units(theirs);
  const parts = [];
  const add = (key, unit) => {
    const last = parts.at(-1);
    if (key === "equal") {
      if (last?.equal) last.equal.push(unit);
      else parts.push({ equal: [unit] });
    } else {
      if (!last || last.equal) parts.push({ mine: [], theirs: [] });
      parts.at(-1)[key].push(unit);
    }
  };
  for (const [key, unit] of script(a.units, b.units)) add(key, unit);
  return { parts: parts.flatMap((part) => (part.equal ? [part] : align(part))), end: a.end };
}

/**
 * Splits a difference so that each block is beside the one that it became: pairs that have most words in common, in
 * order.
 */
function align({ mine, theirs }) {
  const [n, m] = [mine.length, theirs.length];
  if (n === 0 || m === 0 || n * m > 2500) return [{ mine, theirs }];
  const words = [mine, theirs].map((side) => side.map(({ source }) => new Set(source.match(/[\p{L}\p{N}]+/gu))));
  const alike = (i, j) => {
    const [a, b] = [words[0][i], words[1][j]];
    let common = 0;
    for (const word of a) if (b.has(word)) common += 1;
    const share = (2 * common) / (a.size + b.size || 1);
    return mine[i].name === theirs[j].name && share > 0.4 ? share : 0;
  };
  const width = m + 1;
  const best = new Float64Array((n + 1) * width);
  for (let i = n - 1; i >= 0; i -= 1) {
    for (let j = m - 1; j >= 0; j -= 1) {
      const pair = alike(i, j);
      best[i * width + j] = Math.max(pair && pair + best[(i + 1) * width + j + 1], best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const out = [];
  let rest = { mine: [], theirs: [] };
  const flush = () => {
    if (rest.mine.length + rest.theirs.length > 0) out.push(rest);
    rest = { mine: [], theirs: [] };
  };
  let [i, j] = [0, 0];
  while (i < n || j < m) {
    const pair = i < n && j < m ? alike(i, j) : 0;
    if (pair > 0 && best[i * width + j] === pair + best[(i + 1) * width + j + 1]) {
      flush();
      out.push({ mine: [mine[i++]], theirs: [theirs[j++]] });
    } else if (j >= m || (i < n && best[i * width + j] === best[(i + 1) * width + j])) {
      rest.mine.push(mine[i++]);
    } else {
      rest.theirs.push(theirs[j++]);
    }
  }
  flush();
  return out;
}

/** The longest common subsequence as steps. */
function* script(a, b) {
  let start = 0;
  while (start < a.length && start < b.length && a[start].source === b[start].source) yield ["equal", a[start++]];
  let tail = 0;
  while (tail < a.length - start && tail < b.length - start && a.at(-1 - tail).source === b.at(-1 - tail).source) tail += 1;
  const [n, m] = [a.length - start - tail, b.length - start - tail];
  // Contents with thousands of changed blocks are shown as one difference.
  if (n * m > 4_000_000) {
    for (let i = 0; i < n; i += 1) yield ["mine", a[start + i]];
    for (let j = 0; j < m; j += 1) yield ["theirs", b[start + j]];
  } else {
    const width = m + 1;
    const length = new Uint32Array((n + 1) * width);
    for (let i = n - 1; i >= 0; i -= 1) {
      for (let j = m - 1; j >= 0; j -= 1) {
        length[i * width + j] = a[start + i].source === b[start + j].source
          ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
      }
    }
    let [i, j] = [0, 0];
    while (i < n || j < m) {
      if (i < n && j < m && a[start + i].source === b[start + j].source) {
        yield ["equal", a[start + i]];
        i += 1;
        j += 1;
      } else if (j >= m || (i < n && length[(i + 1) * width + j] >= length[i * width + j + 1])) {
        yield ["mine", a[start + i++]];
      } else {
        yield ["theirs", b[start + j++]];
      }
    }
  }
  for (let n = tail; n > 0; n -= 1) yield ["equal", a.at(-n)];
}

/**
 * Whether only they changed a part: what is mine is as it was when the page opened, or is nothing that was there.
 *
 * @param {Part} part
 * @param {string} base the content that both began with
 */
export function isTheirs(part, base) {
  const known = new Set(units(base).units.map(({ source }) => source));
  const untouched = part.mine.every(({ source }) => known.has(source));
  const deleted = part.mine.length === 0 && part.theirs.some(({ source }) => known.has(source));
  return untouched && !deleted;
}

/**
 * The content of the chosen blocks.
 *
 * @param {{parts: Part[], end: string}} compared
 * @param {("mine" | "theirs" | "both")[]} choices one for each part that differs
 */
export function join({ parts, end }, choices) {
  let n = 0;
  let out = "";
  for (const part of parts) {
    const choice = part.equal ? null : choices[n++];
    const chosen = part.equal ?? (choice === "both" ? [...part.mine, ...part.theirs] : part[choice]);
    for (const { gap, source } of chosen) out += (out === "" ? "" : gap || "\n\n") + source;
  }
  return out + end;
}
