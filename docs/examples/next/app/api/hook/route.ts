import { revalidatePath, revalidateTag } from "next/cache";
import { Webhook } from "standardwebhooks";
import { pathOf, tagOfObject, tagOfPath, type Post } from "../../../lib/svc";

interface Delivery {
  data: { kind: string; object?: { kind: string; href?: string } };
}

/** The receiver of a webhook for `post.*` and `term.*`: pages that show the object are rendered again when they are requested next. */
export async function POST(request: Request): Promise<Response> {
  const body = await request.text();
  let delivery: Delivery;
  try {
    const hook = new Webhook(process.env.SVC_HOOK_SECRET ?? "");
    delivery = hook.verify(body, Object.fromEntries(request.headers)) as Delivery;
  } catch {
    return new Response("The signature is wrong.\n", { status: 401 });
  }
  const { kind, object } = delivery.data;
  if (kind === "reset" || object?.kind === "term") {
    revalidatePath("/", "layout");
  } else if (object?.href) {
    expire("posts");
    expire(tagOfObject(object.href));
    if (kind === "published") await forgetMissing(object.href);
  }
  return new Response(null, { status: 204 });
}

/** There may have been no page at the path of a new post. */
async function forgetMissing(href: string): Promise<void> {
  const response = await fetch(href, { cache: "no-store" });
  if (response.ok) expire(tagOfPath(pathOf(((await response.json()) as Post).link)));
}

/** Nothing that is older is shown from here on. */
const expire = (tag: string): void => revalidateTag(tag, { expire: 0 });
