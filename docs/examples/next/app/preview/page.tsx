import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { Article } from "../../lib/article";
import { preview } from "../../lib/svc";

export const metadata: Metadata = { robots: "noindex", referrer: "no-referrer" };

/** Where the server's setting `preview_url` leads: `https://front.example/preview?id={id}&type={type}&token={token}`. */
export default async function Preview({ searchParams }: { searchParams: Promise<Record<string, string>> }) {
  const { id, type, token } = await searchParams;
  const found = await preview(type ?? "post", Number(id), token ?? "");
  if (!found) notFound();
  return <Article post={found} />;
}
