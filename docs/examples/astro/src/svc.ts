// What the site's API returns, as far as this front end reads it. `svc-server types` prints the types of all routes.

export const API = process.env.SVC_API ?? "http://127.0.0.1:8080/svc-json";

/** The setting `cache_tags` of the server. */
export const TAGS = process.env.SVC_CACHE_TAGS ?? "cache-tag";

export interface Post extends Record<string, unknown> {
  id: number;
  link: string;
  modified_gmt: string;
  title: { rendered: string };
  content?: { rendered: string };
  excerpt?: { rendered: string };
}

/** What a path of the site shows. */
export interface Resolved {
  redirect: string | null;
  kind: string;
  subtype: string | null;
  id: number | null;
  rest_url: string | null;
  page: number;
}

/** A response with the tags of what it depends on. */
export interface Answer<T> {
  data: T;
  tags: string[];
}

export async function read<T>(url: string): Promise<Answer<T> | undefined> {
  const response = await fetch(url);
  // What is not public (401) does not exist for visitors.
  if ([401, 403, 404].includes(response.status)) return undefined;
  if (!response.ok) throw new Error(`${response.status} of ${url}`);
  const tags = (response.headers.get(TAGS) ?? "").split(/[ ,]+/).filter((tag) => tag !== "");
  return { data: (await response.json()) as T, tags };
}

export const resolve = (path: string): Promise<Answer<Resolved> | undefined> =>
  read(`${API}/svc/v2/resolve?url=${encodeURIComponent(path)}`);

/** The path of an object's page. */
export const pathOf = (link: string): string => new URL(link).pathname;

/** The parameter that selects the posts of a list; `undefined` of pages that this front end does not have. */
export function filterOf({ kind, subtype, id }: Resolved): string | undefined {
  if (kind === "blog" || kind === "front-page") return "";
  if (kind !== "term-archive") return undefined;
  return { category: `categories=${id}`, post_tag: `tags=${id}` }[subtype ?? ""];
}
