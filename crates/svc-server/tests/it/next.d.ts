// Declarations of the parts of Next.js that the front-end guide uses; Next.js itself is large.
declare module "next/headers" {
  export function draftMode(): Promise<{ enable(): void; disable(): void; isEnabled: boolean }>;
}
declare module "next/navigation" {
  export function redirect(url: string): never;
}
declare const process: { env: Record<string, string | undefined> };
interface RequestInit {
  next?: { revalidate?: number | false; tags?: string[] };
}
