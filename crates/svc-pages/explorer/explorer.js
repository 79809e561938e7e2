// Connects the explorer component with the session of this page: its colours, the URL of the API, and the nonce. Shows the
// user that requests are sent as.

const explorer = document.querySelector("openapi-explorer");
const { document: url, root, nonce, nonceHeader, me } = explorer.dataset;
const preloaded = JSON.parse(explorer.dataset.preloaded);

const LIGHT = {
  "primary-color": "#8a3b12", "secondary-color": "#8a3b12", "bg-color": "#fdfcf9", "header-bg-color": "#f5f2eb",
  "text-color": "#1d1b18", "header-color": "#1d1b18", "nav-bg-color": "#f5f2eb", "nav-text-color": "#1d1b18",
  "nav-hover-bg-color": "#d9d4ca", "nav-hover-text-color": "#6d2d0c",
};
const DARK = {
  "primary-color": "#f0a37a", "secondary-color": "#f0a37a", "bg-color": "#171614", "header-bg-color": "#23211e",
  "text-color": "#ebe7df", "header-color": "#ebe7df", "nav-bg-color": "#23211e", "nav-text-color": "#ebe7df",
  "nav-hover-bg-color": "#3b3832", "nav-hover-text-color": "#f0a37a",
};

const dark = matchMedia("(prefers-color-scheme: dark)");
function colour() {
  for (const [name, value] of Object.entries(dark.matches ? DARK : LIGHT)) {
    explorer.setAttribute(name, value);
  }
}
dark.addEventListener("change", colour);
colour();

// Requests of a session need its nonce; without it they are anonymous. Basic authentication replaces the session.
explorer.addEventListener("request", (event) => {
  const { headers } = event.detail.request;
  if (nonce && !headers.has("Authorization")) {
    headers.set(nonceHeader, nonce);
  }
});

// Reads a route of the API. The page has the first response; later ones are requested.
async function read(route) {
  const entry = preloaded[route];
  if (entry) {
    delete preloaded[route];
    return entry.body;
  }
  const response = await fetch(location.origin + root + route, { headers: { [nonceHeader]: nonce } });
  if (!response.ok) {
    throw new Error(`${route}: ${response.status}`);
  }
  return response.json();
}

async function showUser() {
  const user = document.querySelector("#user");
  if (!user) {
    return;
  }
  try {
    const { name, roles } = await read(me);
    user.textContent = roles.length ? `${name} (${roles.join(", ")})` : name;
  } catch {
    // The session may have ended since the page was loaded.
    document.querySelector("#caller").textContent = "The user is unknown. Reload the page to log in.";
  }
}
// Also when the browser shows the page again without loading it.
addEventListener("pageshow", showUser);

// The origin of this page, which the session's cookie belongs to.
explorer.setAttribute("server-url", location.origin + root);
explorer.setAttribute("spec-url", url);
