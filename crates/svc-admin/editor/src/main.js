// Starts the editor on the page of a post. Without it the page's form works as it is.

import { start } from "./page.js";

const form = document.getElementById("post-form");
if (form?.querySelector("textarea[data-editor]")) start(form);
