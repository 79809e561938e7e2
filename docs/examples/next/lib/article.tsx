import type { Post } from "./svc";

/** A post with its text. The server filters the HTML of users who may not write any. */
export function Article({ post }: { post: Post }) {
  return (
    <article>
      <h1 dangerouslySetInnerHTML={{ __html: post.title.rendered }} />
      <div dangerouslySetInnerHTML={{ __html: post.content.rendered }} />
    </article>
  );
}
