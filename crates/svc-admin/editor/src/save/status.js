// The line that says whether the text is saved.

import { button, el } from "../surface/dom.js";

/**
 * @param {HTMLElement} line with `role="status"`
 * @param {(body: Record<string, any>) => void} compare opens the two versions of a conflict
 */
export function statusLine(line, compare) {
  return ({ text, tone, login, view, compare: conflict }) => {
    const more = [];
    if (login) more.push(el("a", { href: login, target: "_blank", rel: "noopener" }, "Log in in a new tab"));
    if (view) more.push(el("a", { href: view }, "View"));
    if (conflict) more.push(button("Compare", () => compare(conflict), { onmousedown: null }));
    line.dataset.tone = tone ?? "";
    line.replaceChildren(text, ...more.flatMap((element) => [" ", element]));
  };
}

/**
 * Shows an error at the field with this name and goes there.
 *
 * @param {HTMLFormElement} form
 * @param {string} name
 * @param {string} message
 * @param {Record<string, HTMLElement>} instead elements for fields that are not shown themselves
 * @returns {boolean} false if the form has no such field
 */
export function fieldError(form, name, message, instead) {
  const found = form.elements.namedItem(name) ?? form.elements.namedItem(`${name}[]`);
  const first = found instanceof RadioNodeList ? found[0] : found;
  const field = instead[name] ?? first;
  if (!field || field.type === "hidden") return false;
  const id = `error-${name.replace(/[^\w-]/g, "-")}`;
  document.getElementById(id)?.remove();
  field.after(el("p", { id, className: "editor-error" }, message));
  field.setAttribute("aria-describedby", [...ids(field).filter((other) => other !== id), id].join(" "));
  field.setAttribute("aria-invalid", "true");
  for (let parent = field.closest("details"); parent; parent = parent.parentElement?.closest("details")) parent.open = true;
  field.focus();
  return true;
}

/** Removes the errors at all fields. */
export function clearErrors(form) {
  for (const error of form.querySelectorAll("p.editor-error[id^=error-]")) {
    const field = form.querySelector(`[aria-describedby~="${error.id}"]`);
    if (field) {
      const others = ids(field).filter((id) => id !== error.id);
      if (others.length > 0) field.setAttribute("aria-describedby", others.join(" "));
      else field.removeAttribute("aria-describedby");
      field.removeAttribute("aria-invalid");
    }
    error.remove();
  }
}

function ids(field) {
  return (field.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean);
}
