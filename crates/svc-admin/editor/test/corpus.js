// Block contents that the repository records, as test input.

import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

const FOLDERS = ["tests/vectors", "tests/conformance", "tests/traces", "tests/fuzz/corpus/block_parser", "crates"];
const SKIPPED = new Set(["node_modules", "target", "svc-admin"]);

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else yield path;
  }
}

function* strings(value) {
  if (typeof value === "string") yield value;
  else if (value && typeof value === "object") for (const inner of Object.values(value)) yield* strings(inner);
}

/** Texts of a JSON file, of a file with a JSON value in each line, or of a template. */
function* texts(path) {
  const bytes = readFileSync(path);
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const name = path.replace(/\.gz$/, "");
  if (name.endsWith(".json")) yield* strings(JSON.parse(text));
  else if (name.endsWith(".jsonl")) for (const line of text.split("\n")) if (line) yield* strings(JSON.parse(line));
  if (/\.(html|php)$/.test(name) || name.includes("block_parser")) yield text;
}

/** All recorded texts with block comments, and further ones of posts; each once. */
export function corpus() {
  const out = new Set();
  for (const folder of FOLDERS) {
    for (const path of files(join(root, folder))) {
      if (!/\.(json|jsonl|html|php|gz)$/.test(path) && !path.includes("block_parser")) continue;
      if (path.endsWith(".gz") && !/\.jsonl?\.gz$/.test(path)) continue;
      for (const text of texts(path)) if (text.includes("<!--") || /^</.test(text)) out.add(text);
    }
  }
  return [...out];
}
