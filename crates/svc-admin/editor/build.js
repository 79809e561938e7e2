// Builds ../assets from src: the script, compressed, the style sheet, and the licences of the packages in the script.
// The same sources give the same bytes.

import { readFileSync, readdirSync, writeFileSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const options = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  write: false,
  charset: "utf8",
  legalComments: "none",
  target: ["chrome111", "firefox113", "safari16.4"],
  logLevel: "warning",
};

/** @returns {Promise<{script: Uint8Array, style: Uint8Array, licences: string}>} */
export async function bundle() {
  const script = await build({ ...options, entryPoints: ["src/main.js"], format: "iife", metafile: true });
  const style = await build({ ...options, entryPoints: ["src/editor.css"], minify: false });
  return { script: script.outputFiles[0].contents, style: style.outputFiles[0].contents, licences: licences(script.metafile) };
}

/** Texts of the licences of all packages in the script. */
function licences(metafile) {
  const names = new Set();
  for (const path of Object.keys(metafile.inputs)) {
    const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) names.add(found[1]);
  }
  // Packages outside of this folder would be left out.
  if (!names.has("prosemirror-view")) throw new Error("run npm ci in this folder");
  const texts = [...names].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence text`);
    const text = readFileSync(join(folder, file), "utf8").replace(/\r\n/g, "\n").trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return `editor.js contains these packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** Compressed without time and operating system. */
export function compress(bytes) {
  const out = gzipSync(bytes, { level: 9 });
  out.fill(0, 4, 8);
  out[9] = 255;
  return out;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { script, style, licences: texts } = await bundle();
  const assets = join(here, "../assets");
  mkdirSync(assets, { recursive: true });
  const compressed = compress(script);
  writeFileSync(join(assets, "editor.min.js.gz"), compressed);
  writeFileSync(join(assets, "editor.css"), style);
  writeFileSync(join(assets, "editor.LICENSES"), texts);
  console.log(`editor.min.js ${script.length} bytes, ${compressed.length} compressed; editor.css ${style.length} bytes`);
}
