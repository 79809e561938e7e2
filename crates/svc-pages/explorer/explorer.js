// Connects the explorer component with the session of this page: its colours, the URL of the API, and the nonce.

const explorer = document.querySelector("openapi-explorer");
const { document: url, root, nonce, nonceHeader } = explorer.dataset;

const LIGHT = {
  "primary-color": "#0b57a4", "secondary-color": "#0b57a4", "bg-color": "#fdfdfb", "header-bg-color": "#f2f1ec",
  "text-color": "#1b1b1d", "header-color": "#1b1b1d", "nav-bg-color": "#f2f1ec", "nav-text-color": "#1b1b1d",
  "nav-hover-bg-color": "#deded8", "nav-hover-text-color": "#0b4482",
};
const DARK = {
  "primary-color": "#8ec1ff", "secondary-color": "#8ec1ff", "bg-color": "#17181b", "header-bg-color": "#23252a",
  "text-color": "#e9e9e6", "header-color": "#e9e9e6", "nav-bg-color": "#23252a", "nav-text-color": "#e9e9e6",
  "nav-hover-bg-color": "#35363c", "nav-hover-text-color": "#8ec1ff",
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

// The origin of this page, which the session's cookie belongs to.
explorer.setAttribute("server-url", location.origin + root);
explorer.setAttribute("spec-url", url);
