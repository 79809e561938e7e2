// The committed files are what the sources give.

import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { bundle, compress } from "../build.js";

const asset = (name) => readFileSync(new URL(`../../assets/${name}`, import.meta.url));

test("the built files are current, reproducible and small", async () => {
  const [first, second] = [await bundle(), await bundle()];
  assert.deepEqual(first, second);
  const committed = asset("editor.min.js.gz");
  // Compressors differ between versions, so the script itself is compared.
  assert.ok(Buffer.from(first.script).equals(gunzipSync(committed)), "run npm run build");
  assert.equal(Buffer.from(first.style).toString(), asset("editor.css").toString(), "run npm run build");
  assert.equal(first.licences, asset("editor.LICENSES").toString(), "run npm run build");
  assert.ok(compress(first.script).equals(compress(second.script)));
  assert.ok(committed.length <= 250_000, `${committed.length} bytes`);
  assert.equal(committed.readUInt32LE(4), 0, "no time");
});
