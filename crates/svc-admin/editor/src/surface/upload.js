// Uploads of images to the REST API.

/**
 * @typedef {object} Upload
 * @property {File} file
 * @property {string} url of the file in this browser, to show it meanwhile
 * @property {"waiting" | "sending" | "failed" | "done"} state
 * @property {number} progress 0 to 1
 * @property {string} message why it failed
 * @property {boolean} isKept whether the browser keeps the file until it is uploaded
 * @property {Record<string, any> | null} media what the server answered
 */

export class Uploads {
  #all = new Map();
  #listeners = new Set();
  #next = 1;
  /** Fulfilled when the browser has the files that were added, as far as it can. */
  keeping = Promise.resolve();

  /**
   * @param {object} page
   * @param {string} page.rest URL of the REST API's namespace
   * @param {string} page.nonceHeader
   * @param {() => string} page.nonce
   * @param {() => Promise<boolean>} page.renewNonce gets a new nonce; false if the user is logged out
   * @param {number} page.maxSize bytes, 0 for no limit
   * @param {import("../save/pictures.js").Pictures} page.pictures keeps files until they are uploaded
   */
  constructor(page) {
    this.page = page;
  }

  /** Why a file is not uploaded, or null. */
  refuse(file) {
    const { maxSize } = this.page;
    if (!file.type.startsWith("image/")) return `${file.name} is no image.`;
    if (maxSize > 0 && file.size > maxSize) return `${file.name} is too large: ${size(file.size)}, and ${size(maxSize)} is allowed.`;
    return null;
  }

  /** Begins an upload. Returns its id. */
  add(file) {
    const id = `u${this.#next++}`;
    this.#all.set(id, { file, url: URL.createObjectURL(file), state: "waiting", progress: 0, message: "", isKept: false, media: null });
    const kept = this.page.pictures.keep(id, file).then((isKept) => {
      this.#set(id, { isKept });
      if (this.#all.get(id).state === "done") this.page.pictures.done(id);
    });
    this.keeping = Promise.all([this.keeping, kept]);
    this.start(id);
    return id;
  }

  /** @returns {Upload | undefined} */
  get(id) {
    return this.#all.get(id);
  }

  /** Whether leaving the page loses a picture. */
  get isAtRisk() {
    return [...this.#all.values()].some(({ state, isKept }) => state !== "done" && !isKept);
  }

  /**
   * Asks the REST API. Returns null if that fails.
   *
   * @param {string} path below the namespace
   * @returns {Promise<{body: any, pages: number} | null>}
   */
  async read(path) {
    const { rest, nonceHeader } = this.page;
    const ask = () => fetch(new URL(rest + path, location.href), { credentials: "same-origin", headers: { Accept: "application/json", [nonceHeader]: this.page.nonce() } });
    try {
      let response = await ask();
      if ((response.status === 401 || response.status === 403) && (await this.page.renewNonce())) response = await ask();
      if (!response.ok) return null;
      return { body: await response.json(), pages: Number(response.headers.get("X-WP-TotalPages")) || 1 };
    } catch {
      return null;
    }
  }

  /** Calls back with the id of an upload that changed. Returns a function that ends it. */
  watch(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends the file, also again after a failure. */
  async start(id) {
    const upload = this.#all.get(id);
    if (!upload || upload.state === "sending" || upload.state === "done") return;
    this.#set(id, { state: "sending", progress: 0, message: "" });
    let answer = await this.#send(id, upload.file);
    if ((answer.status === 401 || answer.status === 403) && (await this.page.renewNonce().catch(() => false))) {
      answer = await this.#send(id, upload.file);
    }
    if (answer.status === 201 && typeof answer.body?.source_url === "string") {
      this.#set(id, { state: "done", progress: 1, media: answer.body });
      this.page.pictures.done(id);
    } else {
      this.#set(id, { state: "failed", message: reason(answer) });
    }
  }

  #send(id, file) {
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open("POST", `${this.page.rest}media`);
      request.responseType = "text";
      request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
      request.setRequestHeader("Content-Disposition", disposition(file.name));
      request.setRequestHeader(this.page.nonceHeader, this.page.nonce());
      request.upload.onprogress = (event) => event.lengthComputable && this.#set(id, { progress: event.loaded / event.total });
      request.onloadend = () => {
        let body = null;
        try {
          body = JSON.parse(request.response);
        } catch {
          // The message says what the status is.
        }
        resolve({ status: request.status, body });
      };
      request.send(file);
    });
  }

  #set(id, change) {
    Object.assign(this.#all.get(id), change);
    for (const listener of [...this.#listeners]) listener(id);
  }
}

function reason({ status, body }) {
  if (status === 0) return "The connection failed.";
  if (status === 401) return "You are logged out.";
  if (status === 413) return "The file is too large for the server.";
  return typeof body?.message === "string" ? body.message : `The server answered with status ${status}.`;
}

/** The header that names an uploaded file (RFC 6266); other characters than ASCII need the second form (RFC 8187). */
export function disposition(name) {
  const plain = name.replace(/[^\x20-\x7e]/g, "_").replace(/["\\]/g, "_") || "image";
  if (plain === name) return `attachment; filename="${plain}"`;
  const encoded = encodeURIComponent(name.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")).replace(/['()*!]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** A number of bytes for people. */
export function size(bytes) {
  for (const [unit, one] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (bytes >= one) return `${(bytes / one).toFixed(bytes < 10 * one ? 1 : 0)} ${unit}`;
  return `${bytes} bytes`;
}
