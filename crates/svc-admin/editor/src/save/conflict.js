// The dialog in which one chooses between two versions of a post, block by block.

import { el } from "../surface/dom.js";
import { label, preview } from "../surface/preview.js";
import { compare, isTheirs, join } from "./diff.js";

const TEXTS = ["title", "excerpt"];

/**
 * Asks for each difference.
 *
 * @param {Record<string, string>} mine `title`, `content` and, where the form has one, `excerpt`
 * @param {Record<string, string>} theirs the same as it is stored now, with `author`
 * @param {Record<string, string>} base as it was when the page opened
 * @param {AbortSignal} [signal] closes the dialog, as "Not now" does
 * @returns {Promise<Record<string, string> | null>} null if the user does not want to choose now
 */
export function resolveConflict(mine, theirs, base, signal) {
  const compared = compare(mine.content, theirs.content);
  let count = 0;

  const choice = (left, right, other, both, describe) => {
    const name = `conflict-${count++}`;
    const chosen = other ? "theirs" : "mine";
    const option = (value, text) =>
      el("label", {}, el("input", { type: "radio", name, value, checked: value === chosen }), ` ${text}`);
    const side = (value, title, content) =>
      el("div", { className: "editor-version", "data-side": value }, el("div", { className: "editor-choice" }, option(value, title)), ...content);
    return el("fieldset", { className: "editor-difference", "data-name": name },
      el("legend", {}, describe),
      side("mine", "Your version", left),
      side("theirs", theirs.author ? `Version by ${theirs.author}` : "Stored version", right),
      ...(both ? [el("div", { className: "editor-choice editor-both" }, option("both", "Keep both"))] : []));
  };

  const texts = TEXTS.filter((name) => name in mine && theirs[name] !== undefined && lines(mine[name]) !== lines(theirs[name]));
  const textChoices = texts.map((name) => choice([shown(mine[name])], [shown(theirs[name])], mine[name] === base[name], false, name === "title" ? "Title" : "Excerpt"));
  const blockChoices = [];
  const blocks = compared.parts.map((part) => {
    if (part.equal) return el("div", { className: "editor-same" }, ...part.equal.map(show));
    const set = choice(list(part.mine), list(part.theirs), isTheirs(part, base.content), part.mine.length > 0 && part.theirs.length > 0, "Difference");
    blockChoices.push(set);
    return set;
  });

  const dialog = el("dialog", { className: "editor-conflict", "aria-labelledby": "editor-conflict-title" });
  return new Promise((resolve) => {
    const done = (value) => {
      dialog.close();
      dialog.remove();
      resolve(value);
    };
    const value = (set) => set.querySelector("input:checked").value;
    const accept = () => {
      const out = { ...mine };
      for (const [n, name] of texts.entries()) if (value(textChoices[n]) === "theirs") out[name] = theirs[name];
      out.content = join(compared, blockChoices.map(value));
      done(out);
    };
    const who = theirs.author ? `${theirs.author} saved this post` : "This post was saved elsewhere";
    dialog.append(
      el("h2", { id: "editor-conflict-title" }, "Two versions of this post"),
      el("p", {}, `${who} while you were writing. Choose what to keep where they differ; nothing is saved before that.`),
      ...textChoices,
      ...blocks,
      el("div", { className: "editor-conflict-actions" },
        el("button", { type: "button", className: "primary", onclick: accept }, "Save these choices"),
        el("button", { type: "button", onclick: () => done(null) }, "Not now")),
    );
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      done(null);
    });
    signal?.addEventListener("abort", () => done(null));
    document.body.append(dialog);
    dialog.showModal();
  });
}

function lines(text) {
  return text.replace(/\r\n?/g, "\n");
}

function shown(text) {
  return el("p", { className: "editor-plain" }, text === "" ? "(empty)" : text);
}

function list(units) {
  return units.length > 0 ? units.map(show) : [el("p", { className: "editor-plain" }, "(no block)")];
}

function show({ name, source }) {
  return preview(name, source) ?? el("p", { className: "editor-plain" }, label(name));
}
