import type { LiveLoader } from "astro/loaders";
import { API, read, type Post } from "./svc";

/** Loads a post by its URL in the API, or a page of a list by the parameter that selects it. */
export function svcLoader(): LiveLoader<Post, { url: string }, { page: number; filter: string }> {
  const entry = (post: Post, tags: string[]) => ({
    id: String(post.id),
    data: post,
    rendered: { html: post.content?.rendered ?? "" },
    cacheHint: { tags, lastModified: new Date(`${post.modified_gmt}Z`) },
  });
  return {
    name: "svc",
    loadEntry: async ({ filter }) => {
      const found = await read<Post>(filter.url);
      return found && entry(found.data, found.tags);
    },
    loadCollection: async ({ filter }) => {
      const fields = "id,link,modified_gmt,title,excerpt";
      const { page = 1, filter: selected = "" } = filter ?? {};
      const found = await read<Post[]>(`${API}/svc/v2/posts?_fields=${fields}&page=${page}&${selected}`);
      const { data = [], tags = [] } = found ?? {};
      return { entries: data.map((post) => entry(post, [])), cacheHint: { tags } };
    },
  };
}
