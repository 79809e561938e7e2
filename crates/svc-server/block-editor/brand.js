// The packages use WordPress's names of paths, headers and link relations. A site with another brand has its own word in them.

/** Statuses of responses without a body. */
const WITHOUT_BODY = [204, 205, 304];

/**
 * Translates requests to the REST API and their responses, unless the site's brand is `wp`.
 *
 * @param {{brand: string, root: string}} config the brand, and the URL of the REST API with a slash at the end
 */
export function translateBrand({ brand, root }) {
  if (brand === "wp") return;
  const send = window.fetch.bind(window);
  window.fetch = async (url, options = {}) => {
    if (typeof url !== "string" || !url.startsWith(root)) return send(url, options);
    const path = branded(url.slice(root.length), brand);
    const headers = withPrefix(options.headers, "x-wp-", `x-${brand}-`);
    let { body } = options;
    if (path.startsWith("batch/") && typeof body === "string") {
      const { requests, ...others } = JSON.parse(body);
      body = JSON.stringify({ ...others, requests: requests.map((r) => ({ ...r, path: branded(r.path, brand) })) });
    }
    return translated(await send(root + path, { ...options, headers, body }), brand);
  };
}

/** The path of a request with the brand in WordPress's namespaces. */
export function branded(path, brand) {
  return path.replace(/^(\/?)wp(?=\/v2\b|-[a-z-]+\/v1\b)/, `$1${brand}`);
}

/**
 * Adds WordPress's names to the responses that the page has, as `translateBrand` does to others.
 *
 * @param {{OPTIONS?: object}} responses by path, as `apiFetch.createPreloadingMiddleware` reads them
 * @param {string} brand
 */
export function translateResponses({ OPTIONS = {}, ...responses }, brand) {
  if (brand !== "wp") {
    for (const response of [...Object.values(responses), ...Object.values(OPTIONS)]) {
      response.headers = withPrefix(response.headers, `x-${brand}-`, "x-wp-");
      addRelations(response.body, `${brand}:`);
    }
  }
  return { ...responses, OPTIONS };
}

/** Headers with a copy of each whose name has a prefix under the name with another. */
function withPrefix(headers, from, to) {
  const all = new Headers(headers);
  for (const [name, value] of [...all]) {
    if (name.startsWith(from)) all.set(to + name.slice(from.length), value);
  }
  return all;
}

/** The response with WordPress's names beside the brand's. */
async function translated(response, brand) {
  const { status, statusText } = response;
  const headers = withPrefix(response.headers, `x-${brand}-`, "x-wp-");
  let body = WITHOUT_BODY.includes(status) ? null : await response.blob();
  if (body && headers.get("content-type")?.startsWith("application/json")) {
    const value = JSON.parse(await body.text());
    addRelations(value, `${brand}:`);
    body = JSON.stringify(value);
  }
  return new Response(body, { status, statusText, headers });
}

/** Adds WordPress's name to each link relation that has the brand's. */
function addRelations(value, prefix) {
  if (value === null || typeof value !== "object") return;
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== null && (key === "_links" || key === "_embedded")) {
      for (const [relation, links] of Object.entries(inner)) {
        if (relation.startsWith(prefix)) inner[`wp:${relation.slice(prefix.length)}`] = links;
      }
    }
    addRelations(inner, prefix);
  }
}
