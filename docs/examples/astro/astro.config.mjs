import node from "@astrojs/node";
import { defineConfig } from "astro/config";

export default defineConfig({
  // Pages are rendered when they are requested. A cache in front keeps them until the server purges their tags.
  output: "server",
  adapter: node({ mode: "standalone" }),
  trailingSlash: "ignore",
  // Stable, and not to be set, since Astro 6.
  experimental: { liveContentCollections: true },
});
