// What the site's API returns, as far as this front end reads it. `svc-server types` prints the types of all routes.

const API = process.env.SVC_API ?? "http://127.0.0.1:8080/svc-json";

export interface Post {
  id: number;
  link: string;
  date: string;
  title: { rendered: string };
  content: { rendered: string };
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
  pages: number | null;
}

/** Next.js keeps the response until one of the tags is revalidated: see `app/api/hook/route.ts`. */
async function read<T>(url: string, tags: string[]): Promise<T | undefined> {
  const response = await fetch(url, { cache: "force-cache", next: { tags } });
  if (response.ok) return response.json() as Promise<T>;
  // What is not public (401) does not exist for visitors.
  if ([401, 403, 404].includes(response.status)) return undefined;
  throw new Error(`${response.status} of ${url}`);
}

export const resolve = (path: string): Promise<Resolved | undefined> =>
  read(`${API}/svc/v2/resolve?url=${encodeURIComponent(path)}`, [tagOfPath(path)]);

export const post = (url: string): Promise<Post | undefined> => read(url, [tagOfObject(url)]);

/** A page of the newest posts, or of those of a term: `filter` is `categories=7`, for example. */
export async function posts(page: number, filter = ""): Promise<Post[]> {
  const fields = "id,link,date,title,excerpt";
  return (await read(`${API}/svc/v2/posts?_fields=${fields}&page=${page}&${filter}`, ["posts"])) ?? [];
}

/** A draft, revision or autosave, for whoever has the token of a preview link. It is not kept. */
export async function preview(type: string, id: number, token: string): Promise<Post | undefined> {
  const base = type === "page" ? "pages" : "posts";
  const url = `${API}/svc/v2/${base}/${id}?preview_token=${encodeURIComponent(token)}`;
  const response = await fetch(url, { cache: "no-store" });
  return response.ok ? (response.json() as Promise<Post>) : undefined;
}

export const tagOfPath = (path: string): string => `path:${path}`;

/** The tag of an object, from its URL in the API. */
export const tagOfObject = (url: string): string => `object:${new URL(url).pathname}`;

/** The path of an object's page. */
export const pathOf = (link: string): string => new URL(link).pathname;
