// Starts WordPress's block editor on a page of svc's admin. The page has the configuration as JSON.
import apiFetch from "@wordpress/api-fetch";
import * as blockEditor from "@wordpress/block-editor";
import * as blocks from "@wordpress/blocks";
import * as coreData from "@wordpress/core-data";
import * as data from "@wordpress/data";
import { initializeEditor } from "@wordpress/edit-post";
import * as editor from "@wordpress/editor";
import "@wordpress/format-library";
import * as hooks from "@wordpress/hooks";
import { store as notices } from "@wordpress/notices";
import { store as preferences } from "@wordpress/preferences";
import { branded, translateBrand, translateResponses } from "./brand.js";

const config = JSON.parse(document.getElementById("block-editor-config").textContent);

/** Seconds between two messages that this page has the post open. */
const LOCK_INTERVAL = 60;

/** The URL of this page, for links of the editor to the post. */
function stayHere() {
  const replace = history.replaceState.bind(history);
  history.replaceState = (state, title, url) => {
    const to = new URL(url ?? location.href, location.href);
    if (to.pathname.endsWith("/post.php") && to.searchParams.get("action") === "edit") {
      to.pathname = location.pathname;
      to.searchParams.delete("action");
    }
    replace(state, title, to);
  };
}

/** Keeps the preferences of the user in the browser. */
function keepPreferences() {
  const key = `svc-block-editor-preferences-${config.user}`;
  return data.dispatch(preferences).setPersistenceLayer({
    get: async () => {
      try {
        return JSON.parse(localStorage.getItem(key)) ?? {};
      } catch {
        return {};
      }
    },
    set: (values) => {
      try {
        localStorage.setItem(key, JSON.stringify(values));
      } catch {
        // Without storage they are kept until the page is left.
      }
    },
  });
}

/** Tells other editors that this one has the post open, and shows who had it open before. */
async function lock() {
  const body = new URLSearchParams({ ...config.lock.fields, post: config.post, action: "lock" });
  const response = await fetch(config.lock.url, { method: "POST", headers: { Accept: "application/json" }, body }).catch(() => null);
  const { holder } = response?.ok ? await response.json() : {};
  const { createWarningNotice, removeNotice } = data.dispatch(notices);
  if (holder) {
    createWarningNotice(`${holder} has this post open. The last of you who saves replaces what the other has written.`, { id: "holder" });
  } else if (response?.ok) {
    removeNotice("holder");
  }
}

async function start() {
  config.root = new URL(config.root, location.href).href;
  translateBrand(config);
  stayHere();
  const nonce = apiFetch.createNonceMiddleware(config.nonce);
  apiFetch.use(apiFetch.createRootURLMiddleware(config.root));
  apiFetch.use(nonce);
  apiFetch.use(apiFetch.createPreloadingMiddleware(translateResponses(config.preload, config.brand)));
  // The one that is added last is the first to get a request: the responses of the page have the brand's paths.
  apiFetch.use((options, next) => next(options.path ? { ...options, path: branded(options.path, config.brand) } : options));
  apiFetch.use(apiFetch.mediaUploadMiddleware);
  apiFetch.nonceMiddleware = nonce;
  apiFetch.nonceEndpoint = config.nonceUrl;
  const settings = await apiFetch({ path: "/wp-block-editor/v1/settings" });
  await keepPreferences();
  const contentCss = new URL(config.contentCss, location.href);
  const resolved = { styles: `<link rel="stylesheet" href="${contentCss}">`, scripts: "" };
  const options = { ...settings, maxUploadFileSize: config.maxUpload, __unstableResolvedAssets: resolved };
  if (config.autosave) options.autosave = { editLink: config.autosave };
  initializeEditor("block-editor", config.type, config.post, options, config.isNew ? { title: "" } : null);
  // After the editor's own defaults. The guide loads pictures of another site.
  data.dispatch(preferences).setDefaults("core/edit-post", { welcomeGuide: false, welcomeGuideTemplate: false });
  lock();
  setInterval(lock, LOCK_INTERVAL * 1000);
}

// Scripts of WordPress's ecosystem look for the packages there.
window.wp = { apiFetch, blockEditor, blocks, coreData, data, editor, hooks };

start().catch((error) => {
  const target = document.getElementById("block-editor");
  target.setAttribute("role", "alert");
  target.textContent = `The editor could not start: ${error.message}`;
});
