// Providers of embeds that the server knows (`svc-controllers`' `oembed/providers.rs`), with the name and the type that
// the block editor stores for them.

/** Name, hosts (a leading dot also matches subdomains), beginnings of paths (`*` is one segment), and the type, "rich" for most. */
const PROVIDERS = [
  ["youtube", [".youtube.com"], ["/watch", "/playlist", "/shorts/", "/live/", "/v/", "/embed/"], "video"],
  ["youtube", ["youtu.be"], ["/"], "video"],
  ["vimeo", [".vimeo.com"], ["/"], "video"],
  ["dailymotion", [".dailymotion.com", "dai.ly"], ["/"], "video"],
  ["flickr", [".flickr.com", "flic.kr"], ["/"], "photo"],
  ["smugmug", [".smugmug.com"], ["/"], "photo"],
  ["twitter", ["twitter.com", "www.twitter.com", "x.com", "www.x.com"], ["/*/status/", "/*/timelines/", "/i/moments/"]],
  ["soundcloud", [".soundcloud.com"], ["/"]],
  ["spotify", ["open.spotify.com", "play.spotify.com"], ["/"]],
  ["mixcloud", [".mixcloud.com"], ["/"]],
  ["ted", [".ted.com"], ["/talks/"], "video"],
  ["kickstarter", [".kickstarter.com"], ["/projects/"]],
  ["kickstarter", ["kck.st"], ["/"]],
  ["cloudup", [".cloudup.com"], ["/"]],
  ["reverbnation", [".reverbnation.com"], ["/"]],
  ["videopress", ["videopress.com"], ["/v/"], "video"],
  ["reddit", [".reddit.com"], ["/r/*/comments/"]],
  ["speaker-deck", [".speakerdeck.com"], ["/"]],
  ["tumblr", [".tumblr.com"], ["/"]],
  ["imgur", [".imgur.com"], ["/"]],
  ["issuu", [".issuu.com"], ["/*/docs/"]],
  ["slideshare", [".slideshare.net"], ["/"]],
  ["scribd", [".scribd.com"], ["/doc/", "/document/"]],
  ["crowdsignal", [".polldaddy.com", ".crowdsignal.com", ".survey.fm", "poll.fm"], ["/"]],
  ["tiktok", [".tiktok.com"], ["/*/video/", "/@"], "video"],
  ["pinterest", [".pinterest.com", ".pinterest.de", ".pinterest.fr", ".pinterest.co.uk"], ["/"]],
  ["wolfram-cloud", [".wolframcloud.com"], ["/obj/"]],
  ["pocket-casts", ["pca.st"], ["/"]],
  ["anghami", [".anghami.com"], ["/"]],
  ["bluesky", ["bsky.app"], ["/profile/*/post/"]],
  ["canva", [".canva.com"], ["/design/*/view"]],
];

/** Hosts of all providers. */
export const HOSTS = PROVIDERS.flatMap(([, hosts]) => hosts);

/**
 * The provider of a URL, or null.
 *
 * @param {string} text
 * @returns {{name: string, type: string} | null}
 */
export function providerOf(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "" || url.port !== "") return null;
  const isHost = (host) => (host.startsWith(".") ? `.${url.hostname}`.endsWith(host) : url.hostname === host);
  const found = PROVIDERS.find(([, hosts, paths]) => hosts.some(isHost) && paths.some((path) => hasPrefix(url.pathname, path)));
  return found ? { name: found[0], type: found[3] ?? "rich" } : null;
}

function hasPrefix(path, pattern) {
  const [before, ...after] = pattern.split("*");
  if (!path.startsWith(before)) return false;
  if (after.length === 0) return true;
  const rest = path.slice(before.length);
  const end = rest.includes("/") ? rest.indexOf("/") : rest.length;
  return end > 0 && hasPrefix(rest.slice(end), after.join("*"));
}
