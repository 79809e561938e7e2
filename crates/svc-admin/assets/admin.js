// What pages of the admin do better with a script: search while typing, selection of all rows, confirmation of deletions, and uploads.
"use strict";

const SEARCH_DELAY = 300;

/** Replaces the list with that of the form, without leaving the search field. */
async function refresh(form) {
  const query = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...query]) if (!value) query.delete(name);
  const url = form.action.split("?")[0] + (query.size ? "?" + query : "");
  const response = await fetch(url, { headers: { Accept: "text/html" } });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const main = document.getElementById("main");
  for (const selector of ["form.list", ".empty", ".pager", ".views"]) {
    main.querySelectorAll(":scope > " + selector + ", :scope > form[id^=reply-form]").forEach((node) => node.remove());
  }
  let place = form;
  for (const node of [...page.getElementById("main").children]) {
    if (node.matches("form.list, .empty, .pager, form[id^=reply-form]")) {
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
  if (target.matches("select[data-submit]")) target.form.requestSubmit();
  if (target.matches("input[data-all]")) {
    target.form.querySelectorAll("td.pick input").forEach((box) => (box.checked = target.checked));
  }
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-confirm]");
  if (button && button.dataset.confirm && !confirm(button.dataset.confirm)) event.preventDefault();
});

// A menu that is open takes the whole width of a small screen.
if (matchMedia("(max-width: 56rem)").matches) document.querySelector("details.menu")?.removeAttribute("open");

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
  area.hidden = false;
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
