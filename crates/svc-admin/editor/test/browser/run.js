// Drives the editor in Chromium: `node test/browser/run.js [folder for screenshots]`.
//
// CHROMIUM is the browser's path (default /usr/bin/chromium). With AXE, the path of axe-core's script, the pages are checked by
// it. With ONLY, a part of the names of steps, the other steps are left out.

import { finish } from "./harness.js";

for (const steps of ["writing", "blocks", "saving", "typing", "looks"]) await import(`./${steps}.js`);
await finish();
