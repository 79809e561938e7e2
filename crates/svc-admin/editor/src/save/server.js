// Requests to the page's server, and what its answers mean.

/**
 * @typedef {object} Answer
 * @property {"saved" | "invalid" | "login" | "forbidden" | "conflict" | "later"} kind
 * @property {Record<string, any>} body
 * @property {number} wait seconds that the server asks to wait, or 0
 */

/** Milliseconds to wait for an answer. */
const TIMEOUT = 60_000;

export class Server {
  /**
   * @param {object} parts
   * @param {string} parts.url that receives the form
   * @param {() => string} parts.page URL of the page that has the form, for a new nonce
   * @param {typeof fetch} parts.fetch
   * @param {(html: string) => Document} parts.parse
   */
  constructor(parts) {
    Object.assign(this, parts);
  }

  /**
   * Sends fields.
   *
   * @param {[string, string][]} fields
   * @returns {Promise<Answer>}
   */
  async send(fields) {
    let response;
    let body = null;
    try {
      const { fetch } = this;
      const signal = AbortSignal.timeout(TIMEOUT);
      response = await fetch(this.url, { method: "POST", body: new URLSearchParams(fields), headers: { Accept: "application/json" }, credentials: "same-origin", signal });
      body = JSON.parse(await response.text());
    } catch {
      // No answer, or none in JSON.
    }
    const wait = Number(response?.headers.get("Retry-After")) || 0;
    const valid = body !== null && typeof body === "object";
    return { kind: kind(response, valid), body: valid ? body : { message: response ? `The server answered with status ${response.status}.` : "" }, wait };
  }

  /**
   * A new nonce from the page's form; null if the page has no form, because the user is logged out.
   *
   * @returns {Promise<{nonce: string, restNonce: string} | null>} rejects if there is no answer
   */
  async renew() {
    const { fetch } = this;
    const response = await fetch(this.page(), { headers: { Accept: "text/html" }, credentials: "same-origin", cache: "no-store" });
    if (response.status >= 500) throw new Error(`status ${response.status}`);
    const form = this.parse(await response.text()).getElementById("post-form");
    const nonce = form && nonceField(form)?.value;
    // Somebody else has logged in: the text is not saved in their name.
    if ((form?.dataset.user ?? "") !== (this.user ?? "")) return null;
    return nonce ? { nonce, restNonce: form.dataset.restNonce ?? "" } : null;
  }
}

/** The hidden field with the nonce of the form, whose name has the brand's word. */
export function nonceField(form) {
  return form.querySelector("input[type=hidden][name$=nonce], input[name=_wpnonce]");
}

function kind(response, valid) {
  if (!response) return "later";
  const { status } = response;
  if (status === 401) return "login";
  if (status === 403) return "forbidden";
  if (status === 412 && valid) return "conflict";
  if (status === 408 || status === 425 || status === 429 || status >= 500) return "later";
  // A page instead of JSON is the log-in page to which the server redirected, or a proxy's.
  if (response.ok) return valid ? "saved" : response.redirected ? "login" : "later";
  return "invalid";
}
