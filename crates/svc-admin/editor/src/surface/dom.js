// Makes elements.

/**
 * An element with properties and children. Keys with a dash, and `role`, are attributes; `on…` are listeners.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} [props]
 * @param {...(Node | string)} children
 */
export function el(tag, props = {}, ...children) {
  const out = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
    else if (key.includes("-") || key === "role" || key === "for") out.setAttribute(key, value);
    else out[key] = value;
  }
  out.append(...children);
  return out;
}

/** A button that does not submit and does not take the focus from the text. */
export function button(label, onclick, props = {}) {
  return el("button", { type: "button", onclick, onmousedown: (event) => event.preventDefault(), ...props }, label);
}

const SVG = "http://www.w3.org/2000/svg";

/** An icon that is drawn with lines, in the colour of the text. */
export function icon(path) {
  const svg = document.createElementNS(SVG, "svg");
  const attrs = { viewBox: "0 0 24 24", width: "1.15em", height: "1.15em", fill: "none", stroke: "currentColor", "stroke-width": "2", "stroke-linecap": "round", "aria-hidden": "true" };
  for (const [name, value] of Object.entries(attrs)) svg.setAttribute(name, value);
  svg.append(document.createElementNS(SVG, "path"));
  svg.firstChild.setAttribute("d", path);
  return svg;
}

let layer = null;

/** Adds elements that float over the page, within its main part, where screen readers look for them. */
export function float(...elements) {
  if (!layer?.isConnected) {
    layer = el("div", { className: "editor-layer" });
    (document.querySelector("main") ?? document.body).append(layer);
  }
  layer.append(...elements);
}

/** Puts a floating element at a position in the window. */
export function moveTo(element, left, top) {
  const origin = layer.getBoundingClientRect();
  element.style.left = `${left - origin.left}px`;
  element.style.top = `${top - origin.top}px`;
}

/**
 * Puts a floating element below or above a rectangle, within the window.
 *
 * @param {HTMLElement} element
 * @param {{left: number, top: number, bottom: number}} rect in the window
 * @param {"above" | "below"} side the preferred one
 */
export function place(element, rect, side) {
  const { offsetWidth: width, offsetHeight: height } = element;
  const gap = 6;
  const fits = { above: rect.top - height - gap >= 0, below: rect.bottom + height + gap <= innerHeight };
  const other = side === "above" ? "below" : "above";
  const at = fits[side] || !fits[other] ? side : other;
  const top = at === "above" ? rect.top - height - gap : rect.bottom + gap;
  const left = Math.max(8, Math.min(rect.left, document.documentElement.clientWidth - width - 8));
  moveTo(element, left, top);
}
