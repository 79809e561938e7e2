// What pages of the admin do better with a script: search while typing, selection of all rows, questions before deletions,
// the choice that belongs to a text, and uploads.
"use strict";

const SEARCH_DELAY = 300;

/** Number of searches that were sent. */
let refreshes = 0;

/** Replaces the list with that of the form, without leaving the search field. */
async function refresh(form) {
  const query = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...query]) if (!value) query.delete(name);
  const url = form.action.split("?")[0] + (query.size ? "?" + query : "");
  const number = ++refreshes;
  const response = await fetch(url, { headers: { Accept: "text/html" } });
  const text = await response.text();
  // A later search has been sent in the meantime.
  if (!response.ok || number !== refreshes) return;
  const page = new DOMParser().parseFromString(text, "text/html");
  const main = document.getElementById("main");
  for (const selector of ["form.list", ".empty", ".pager", ".views", ".tools"]) {
    main.querySelectorAll(":scope > " + selector + ", :scope > form[id^=reply-form]").forEach((node) => node.remove());
  }
  let place = form;
  for (const node of [...page.getElementById("main").children]) {
    if (node.matches(".tools, form.list, .empty, .pager, form[id^=reply-form]")) {
      place.after(node);
      place = node;
    }
  }
  const views = page.querySelector(".views");
  if (views) form.before(views);
  history.replaceState(null, "", url);
}

document.querySelectorAll("input[data-search]").forEach((input) => {
  let timer;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => refresh(input.form), SEARCH_DELAY);
  });
});

document.addEventListener("change", (event) => {
  const target = event.target;
  if (target.matches("[data-submit]")) target.form.requestSubmit();
  if (target.matches("input[data-all]")) {
    target.form.querySelectorAll("td.pick input").forEach((box) => (box.checked = target.checked));
  }
});

document.querySelectorAll("input[data-checks]").forEach((input) => {
  input.addEventListener("input", () => (document.getElementById(input.dataset.checks).checked = true));
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-confirm]");
  if (button && button.dataset.confirm && !confirm(button.dataset.confirm)) event.preventDefault();
});

// A menu that is open takes the whole width of a small screen.
const isNarrow = matchMedia("(max-width: 56rem)");
const menu = document.querySelector("details.menu");
if (menu) {
  const fold = () => menu.toggleAttribute("open", !isNarrow.matches);
  isNarrow.addEventListener("change", fold);
  fold();
  menu.classList.add("foldable");
}

/** Uploads a file to the REST API, and shows its progress in an item of the list. */
function upload(area, file) {
  const item = document.createElement("li");
  const label = document.createElement("span");
  const bar = document.createElement("progress");
  label.textContent = file.name;
  bar.max = 1;
  item.append(label, " ", bar);
  area.querySelector("ul").append(item);
  const end = (text) => {
    bar.remove();
    label.textContent = file.name + ": " + text;
  };
  if (file.size > Number(area.dataset.max)) {
    end("the file is larger than " + Math.floor(Number(area.dataset.max) / 1048576) + " MB.");
    return Promise.resolve(false);
  }
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", area.dataset.upload);
    request.setRequestHeader(area.dataset.nonceHeader, area.dataset.nonce);
    request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
    request.setRequestHeader("Content-Disposition", "attachment; filename*=UTF-8''" + encodeURIComponent(file.name));
    request.upload.onprogress = (event) => (bar.value = event.loaded / (event.total || 1));
    request.onerror = () => (end("the connection failed."), resolve(false));
    request.onload = () => {
      let message = "the server does not accept it.";
      try {
        message = JSON.parse(request.responseText).message || message;
      } catch {
        // The response is not from the REST API.
      }
      const ok = request.status === 201;
      end(ok ? "added." : message);
      resolve(ok);
    };
    request.send(file);
  });
}

document.querySelectorAll("[data-upload]").forEach((area) => {
  const all = async (files) => {
    let added = false;
    for (const file of files) added = (await upload(area, file)) || added;
    if (added && [...area.querySelectorAll("li")].every((item) => item.textContent.endsWith("added."))) location.reload();
  };
  area.querySelector("input").addEventListener("change", (event) => all([...event.target.files]));
  area.addEventListener("dragover", (event) => event.preventDefault());
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    all([...event.dataTransfer.files]);
  });
});

// Tells other editors that the post is open, and shows who has it open already.
const LOCK_PERIOD = 60000;

async function lock(form) {
  const body = new URLSearchParams({ post: form.elements.post.value, action: "lock" });
  if (!body.get("post")) return;
  const nonce = form.querySelector("input[name$=nonce]");
  body.set(nonce.name, nonce.value);
  const response = await fetch(form.getAttribute("action"), { method: "POST", body, headers: { Accept: "application/json" } });
  if (!response.ok) return;
  const { holder } = await response.json();
  const note = document.getElementById("holder");
  note.hidden = !holder;
  note.querySelector("strong").textContent = holder || "";
}

/** Milliseconds that a preview waits for what was typed last. */
const PREVIEW_WAIT = 4000;

const postForm = document.getElementById("post-form");
if (postForm) {
  const preview = document.getElementById("preview");
  const renew = () => document.visibilityState === "visible" && lock(postForm).catch(() => {});
  renew();
  setInterval(renew, LOCK_PERIOD);
  // The editor has saved: the page of another status has other buttons.
  const status = postForm.dataset.status;
  postForm.addEventListener("editor:saved", ({ detail }) => {
    if (!detail.isAutosave && detail.status !== status) {
      const url = new URL(detail.edit, location.href);
      url.searchParams.set("done", { publish: "published", future: "scheduled", draft: "draft" }[detail.status] || "saved");
      return location.assign(url);
    }
    preview.href = detail.preview;
    preview.hidden = !detail.preview;
  });
  // "Save draft" would publish a post whose status is set to be published.
  const chosen = postForm.elements.status;
  const draft = postForm.querySelector("button[name=action][value=save]");
  if (chosen && draft && draft.textContent.trim() === "Save draft") {
    const show = () => (draft.hidden = chosen.value === "publish" || chosen.value === "private");
    chosen.addEventListener("change", show);
    show();
  }
  // The preview has what was typed last.
  preview.addEventListener("click", (event) => {
    const begin = new CustomEvent("editor:autosave", { cancelable: true });
    if (document.documentElement.dataset.editor !== "ready" || !postForm.dispatchEvent(begin)) return;
    event.preventDefault();
    const page = open("", "_blank");
    const show = () => {
      clearTimeout(timer);
      postForm.removeEventListener("editor:saved", show);
      page.opener = null;
      page.location = preview.href;
    };
    const timer = setTimeout(show, PREVIEW_WAIT);
    postForm.addEventListener("editor:saved", show);
  });
}

/** Lets the user choose an image from the media, for the field with its ID. */
function chooser(input) {
  const form = input.form;
  const rest = form.dataset.rest;
  const headers = { [form.dataset.nonceHeader]: form.dataset.restNonce };
  const shown = document.createElement("p");
  shown.className = "chosen";
  const choose = document.createElement("button");
  choose.type = "button";
  choose.textContent = "Choose";
  const remove = document.createElement("button");
  remove.type = "button";
  remove.className = "plain";
  remove.textContent = "Remove";
  const thumbnail = (file) => {
    const sizes = file.media_details?.sizes || {};
    return (sizes.medium || sizes.thumbnail || sizes.full || file).source_url;
  };
  const show = (file) => {
    shown.replaceChildren();
    remove.hidden = !file;
    if (!file) return;
    const image = document.createElement("img");
    image.src = thumbnail(file);
    image.alt = file.alt_text || "";
    shown.append(image);
  };
  const set = (file) => {
    input.value = file ? file.id : 0;
    show(file);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const load = async (search) => {
    const query = new URLSearchParams({ media_type: "image", per_page: "24", _fields: "id,title,alt_text,source_url,media_details" });
    if (search) query.set("search", search);
    const response = await fetch(rest + "media?" + query, { headers });
    return response.ok ? response.json() : [];
  };
  const open = async () => {
    const dialog = document.createElement("dialog");
    dialog.className = "chooser";
    dialog.setAttribute("aria-label", "Choose an image");
    const search = document.createElement("input");
    search.type = "search";
    search.placeholder = "Search";
    search.setAttribute("aria-label", "Search");
    const grid = document.createElement("ul");
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "Close";
    close.onclick = () => dialog.close();
    const fill = async () => {
      const files = await load(search.value);
      grid.replaceChildren();
      for (const file of files) {
        const item = document.createElement("li");
        const button = document.createElement("button");
        const image = document.createElement("img");
        image.src = thumbnail(file);
        image.alt = file.alt_text || file.title.rendered;
        image.loading = "lazy";
        button.type = "button";
        button.append(image);
        button.onclick = () => (set(file), dialog.close());
        item.append(button);
        grid.append(item);
      }
      if (!files.length) grid.textContent = "No images found. Add some under Media, or drop one into the text.";
    };
    let timer;
    search.oninput = () => (clearTimeout(timer), (timer = setTimeout(fill, SEARCH_DELAY)));
    dialog.append(search, grid, close);
    dialog.onclose = () => dialog.remove();
    document.body.append(dialog);
    dialog.showModal();
    await fill();
  };
  choose.onclick = open;
  remove.onclick = () => set(null);
  input.hidden = true;
  input.parentElement.querySelector(".dim")?.remove();
  input.after(shown, choose, " ", remove);
  show(null);
  if (Number(input.value) > 0) {
    fetch(rest + "media/" + Number(input.value) + "?_fields=id,title,alt_text,source_url,media_details", { headers })
      .then((response) => (response.ok ? response.json() : null))
      .then((file) => file && show(file))
      .catch(() => {});
  }
}

document.querySelectorAll("#post-form input[name=featured_media]").forEach(chooser);

/** A button that copies the value of a field. */
function copier(input) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.onclick = async () => {
    input.select();
    await navigator.clipboard?.writeText(input.value).catch(() => {});
    button.textContent = "Copied";
  };
  input.after(button);
}

document.querySelectorAll("input[data-copy]").forEach(copier);
