// The preview beside the text: the post in the site's theme, at the widths of a phone, a tablet and a computer. It follows what
// is typed, after a pause.
"use strict";

/** Widths in pixels that the buttons choose. */
const WIDTHS = [
  ["Phone", 390],
  ["Tablet", 820],
  ["Computer", 1280],
];

/** Milliseconds without a change after which the preview is renewed. */
const PAUSE = 1200;

/** Where the chosen width is remembered. */
const STORED = "svc-preview-width";

function besideText(form, toggle, link) {
  let pane = null;
  let timer = 0;

  const button = (label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.onclick = act;
    return made;
  };

  /** A frame that is shown when its page has loaded, in place of the one before. */
  const load = () => {
    if (!pane || !link.href || link.hidden) return;
    const { stage, note } = pane;
    const before = pane.frame;
    pane.next?.remove();
    const frame = document.createElement("iframe");
    pane.next = frame;
    frame.title = "Preview";
    // No script of the site runs in it, and no form is sent from it.
    frame.setAttribute("sandbox", "allow-same-origin");
    frame.className = "loading";
    frame.onload = () => {
      if (!pane || pane.next !== frame) return;
      pane.next = null;
      pane.frame = frame;
      note.hidden = true;
      const top = before?.contentWindow?.scrollY ?? 0;
      fit();
      frame.contentWindow?.scrollTo({ top, behavior: "instant" });
      frame.className = "";
      before?.remove();
    };
    frame.src = link.href;
    stage.append(frame);
    fit();
  };

  /** Scales the page so that it fits into the pane. */
  const fit = () => {
    if (!pane) return;
    const { stage } = pane;
    const scale = Math.min(1, stage.clientWidth / pane.width);
    for (const frame of stage.querySelectorAll("iframe")) {
      frame.style.width = `${pane.width}px`;
      frame.style.height = `${stage.clientHeight / scale}px`;
      frame.style.transform = `scale(${scale})`;
      frame.style.marginInlineStart = `${Math.max(0, (stage.clientWidth - pane.width * scale) / 2)}px`;
    }
  };

  /** Saves what was typed last, and shows it. */
  const renew = () => {
    const begin = new CustomEvent("editor:autosave", { cancelable: true });
    // Prevented if there was nothing to save.
    if (document.documentElement.dataset.editor === "ready" && form.dispatchEvent(begin)) return;
    if (pane && !pane.frame && !pane.next) load();
  };

  const changed = () => {
    if (!pane) return;
    clearTimeout(timer);
    timer = setTimeout(renew, PAUSE);
  };

  const choose = (width) => {
    pane.width = width;
    for (const made of pane.widths) made.setAttribute("aria-pressed", String(Number(made.value) === width));
    try {
      localStorage.setItem(STORED, width);
    } catch {
      // The next page begins with the width of a phone.
    }
    fit();
  };

  const storedWidth = () => {
    try {
      const width = Number(localStorage.getItem(STORED));
      return WIDTHS.some(([, known]) => known === width) ? width : WIDTHS[0][1];
    } catch {
      return WIDTHS[0][1];
    }
  };

  const open = () => {
    const element = document.createElement("section");
    element.className = "beside";
    element.setAttribute("aria-label", "Preview");
    const tools = document.createElement("div");
    tools.className = "widths";
    const widths = WIDTHS.map(([label, width]) => {
      const made = button(label, () => choose(width));
      made.value = width;
      return made;
    });
    const stage = document.createElement("div");
    stage.className = "stage";
    const note = document.createElement("p");
    note.className = "dim";
    note.textContent = "The preview appears when something is written.";
    tools.append(...widths, button("Close", close));
    stage.append(note);
    element.append(tools, stage);
    form.querySelector(".columns").append(element);
    document.body.classList.add("previewing");
    toggle.setAttribute("aria-pressed", "true");
    pane = { element, stage, note, widths, width: 0, frame: null, next: null, size: new ResizeObserver(fit) };
    pane.size.observe(stage);
    choose(storedWidth());
    renew();
  };

  const close = () => {
    clearTimeout(timer);
    pane.size.disconnect();
    pane.element.remove();
    pane = null;
    document.body.classList.remove("previewing");
    toggle.setAttribute("aria-pressed", "false");
    toggle.focus();
  };

  toggle.hidden = false;
  toggle.setAttribute("aria-pressed", "false");
  toggle.onclick = () => (pane ? close() : open());
  for (const type of ["input", "change", "keyup", "drop", "paste", "click"]) form.addEventListener(type, changed);
  // `admin.js` has put the new address into the link by then.
  form.addEventListener("editor:saved", () => setTimeout(load));
}

{
  const form = document.getElementById("post-form");
  const toggle = document.getElementById("beside");
  if (form && toggle) besideText(form, toggle, document.getElementById("preview"));
}
