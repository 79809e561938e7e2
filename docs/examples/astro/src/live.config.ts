import { defineLiveCollection } from "astro:content";
import { svcLoader } from "./loader";

export const collections = { posts: defineLiveCollection({ loader: svcLoader() }) };
