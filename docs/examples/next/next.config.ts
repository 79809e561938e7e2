import type { NextConfig } from "next";

const config: NextConfig = {
  // The site's URLs end with a slash, and the API says which form is canonical.
  skipTrailingSlashRedirect: true,
  turbopack: { root: import.meta.dirname },
};

export default config;
