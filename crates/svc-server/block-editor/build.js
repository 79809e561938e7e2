// Builds the editor with the packages of node_modules. Writes the files that svc-server serves, compressed, into `built`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const { metafile, outputFiles } = await build({
  entryPoints: ["editor.js", "editor.css", "content.css"],
  outdir: "built",
  write: false,
  bundle: true,
  minify: true,
  metafile: true,
  format: "iife",
  target: ["es2022"],
  logLevel: "error",
  loader: { ".svg": "dataurl" },
  // Code for images and videos in the browser, which the server does.
  external: ["@wordpress/vips/*", "@wordpress/video-conversion/*"],
  define: {
    "process.env.NODE_ENV": '"production"',
    "globalThis.IS_GUTENBERG_PLUGIN": "false",
    "globalThis.IS_WORDPRESS_CORE": "true",
    "globalThis.SCRIPT_DEBUG": "false",
    // The media library that needs nothing but the REST API.
    "window.__experimentalDataViewsMediaModal": "true",
  },
});

mkdirSync("built", { recursive: true });
for (const { path, contents } of outputFiles) {
  const name = path.split(/[\\/]/).pop();
  writeFileSync(`built/${name}.gz`, gzipSync(contents, { level: 9 }));
}

/** The folders of the packages that are part of the files. */
const folders = new Set();
for (const input of Object.keys(metafile.inputs)) {
  const folder = input.match(/node_modules\/(?!.*node_modules\/)(@[^/]+\/)?[^/]+/);
  if (folder) folders.add(input.slice(0, folder.index + folder[0].length).replace(/^.*?(?=node_modules)/, ""));
}
const lines = [...folders].map((folder) => {
  const { name, version, license, licenses, homepage } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  return `${name} ${version}: ${license ?? licenses?.map(({ type }) => type).join(", ") ?? "see its files"}, ${homepage ?? `https://www.npmjs.com/package/${name}`}`;
});
writeFileSync("built/LICENSES.txt", `${lines.sort().join("\n")}\n`);
