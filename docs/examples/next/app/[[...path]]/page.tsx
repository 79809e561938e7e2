import Link from "next/link";
import { notFound, permanentRedirect } from "next/navigation";
import { Article } from "../../lib/article";
import { pathOf, post, posts, resolve } from "../../lib/svc";

// Each page is rendered when it is requested first, and kept until what it shows changes.
export const generateStaticParams = () => [];
export const revalidate = false;

export default async function Page({ params }: { params: Promise<{ path?: string[] }> }) {
  const { path: parts = [] } = await params;
  const path = parts.length === 0 ? "/" : `/${parts.join("/")}/`;
  const shown = await resolve(path);
  if (!shown) notFound();
  if (shown.redirect) permanentRedirect(pathOf(shown.redirect));
  if (shown.kind === "single" && shown.rest_url) {
    const found = await post(shown.rest_url);
    if (!found) notFound();
    // Its slug has changed since the path was resolved.
    if (pathOf(found.link) !== path) permanentRedirect(pathOf(found.link));
    return <Article post={found} />;
  }
  const filter = filterOf(shown.kind, shown.subtype, shown.id);
  if (filter === undefined) notFound();
  const list = await posts(shown.page, filter);
  return (
    <>
      {list.map(({ id, link, title, excerpt }) => (
        <section key={id}>
          <h2>
            <Link href={pathOf(link)} prefetch={false} dangerouslySetInnerHTML={{ __html: title.rendered }} />
          </h2>
          <div dangerouslySetInnerHTML={{ __html: excerpt?.rendered ?? "" }} />
        </section>
      ))}
    </>
  );
}

/** The parameter that selects the posts of a list; `undefined` of pages that this front end does not have. */
function filterOf(kind: string, subtype: string | null, id: number | null): string | undefined {
  if (kind === "blog" || kind === "front-page") return "";
  if (kind !== "term-archive") return undefined;
  return { category: `categories=${id}`, post_tag: `tags=${id}` }[subtype ?? ""];
}
